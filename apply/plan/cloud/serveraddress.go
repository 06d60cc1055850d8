package cloud

import (
	"fmt"

	"github.com/talosgen/talosgen/schemas"
)

// serverAddresses compares the addresses of a living server.
func (p *servers) serverAddresses(d *changeBuilder, want schemas.InfraServer, have *Server) {
	p.privateAddress(d, want, have)
	publicAddress(d, FieldPublicIPv4, have.PublicIPv4.IP, want.PublicIPv4)
	publicAddress(d, FieldPublicIPv6, have.PublicIPv6.IP, want.PublicIPv6)
}

// publicAddress compares one public address: which one it is does not matter.
func publicAddress(d *changeBuilder, name, have string, want bool) {
	switch {
	case have == "" && want:
		d.field(Field{Name: name, to: "on", Class: PowerOff})
	case have != "" && !want:
		d.Destructive = true
		d.field(Field{Name: name, from: have, Class: PowerOff, Reason: "the address is lost"})
	}
}

// privateAddress compares the address in the network. A node that has another
// one already keeps it: etcd and the kubelet know it by that.
func (p *servers) privateAddress(d *changeBuilder, want schemas.InfraServer, have *Server) {
	if p.want == nil || want.PrivateIP == "" {
		return
	}
	from := ""
	for _, n := range have.PrivateNets {
		if p.net != nil && n.Network == p.net.ID {
			from = n.IP
		} else {
			p.warn(d.Key, fmt.Sprintf("it is also in the network %s, with the address %s", p.observed.networkText(n.Network), n.IP), "it stays there")
		}
	}
	f := Field{Name: FieldPrivateIP, from: from, to: want.PrivateIP, Class: InPlace}
	switch {
	case from == want.PrivateIP:
	case from != "" && node(want):
		f.Reason = "a node cannot change its address"
		d.refuse(f, "keep the pool's offset and the node's index, or say in privateIps of the pool that it has %s, or remove the node and add another: talosgen pool", from)
	default:
		if from != "" {
			f.Reason = "it is detached and attached again"
		}
		d.field(f)
		d.needs(p.networkKey(), p.subnetFor(want.PrivateIP))
		for _, s := range p.observed.Servers {
			if s.ID != have.ID && p.hasAddress(s, want.PrivateIP) {
				d.after(KeyOf(KindServer, s.Name))
			}
		}
	}
}
