package options

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/schemas"
)

// providedBy is the label by which the cloud controller and the driver of volumes tell
// dedicated servers from those of Hetzner Cloud. It is there from the first moment of a
// node, also before the controller has seen it.
const providedBy = "instance.hetzner.cloud/provided-by"

// ofDedicated are the options of a dedicated server beside servers of Hetzner Cloud.
func ofDedicated(m *model.Model, n model.Node) machine.NodeOptions {
	at := places{m.Config}
	o := at.ofKubernetesNode(n)
	if _, given := o.Labels[providedBy]; !given {
		o.Labels[providedBy] = machine.Option{Value: "robot", Pos: n.Pos()}
	}
	o.Links = []machine.Link{at.dedicatedLink(n)}
	o.Ingress = at.dedicatedIngress(m.Infra.Access)
	return o
}

// dedicatedLink is the link of a dedicated server: the public address is on it, and the
// private one on the VLAN of the vSwitch.
func (c places) dedicatedLink(n model.Node) machine.Link {
	link := machine.Link{
		Name: machine.Option{Value: n.Interface, Pos: n.Pos("interface")},
		MAC:  machine.Option{Value: n.Match.MAC, Pos: n.Pos("match", "mac")},
		Up:   machine.Option{Value: "true", Pos: n.Pos()},
	}
	if n.Address.IsValid() {
		link.Address = machine.Option{Value: n.Address.String(), Pos: n.Pos("address")}
	} else {
		link.DHCP = machine.Option{Value: "true", Pos: n.Pos()}
	}
	if n.Gateway.IsValid() {
		by := machine.Option{Value: n.Gateway.String(), Pos: n.Pos("gateway")}
		if !n.Address.Contains(n.Gateway) { // a single address, whose gateway is on the link all the same
			only := machine.Option{Value: netip.PrefixFrom(n.Gateway, n.Gateway.BitLen()).String(), Pos: by.Pos}
			link.Routes = append(link.Routes, machine.Route{Destination: only})
		}
		link.Routes = append(link.Routes, machine.Route{Gateway: by})
	}
	link.Routes = append(link.Routes, ownRoutes(n)...)
	link.VLANs = c.vswitchLinks(n)
	return link
}

// vswitchLinks is the VLAN of the vSwitch, by whose gateway the rest of the network is
// reached.
func (c places) vswitchLinks(n model.Node) []machine.Link {
	net := &c.config.Network
	gateway, err := config.PrivateGateway(c.config)
	if err != nil {
		return nil // reported already
	}
	by := func(pos machine.Option) machine.Option { return machine.Option{Value: gateway.String(), Pos: pos.Pos} }
	private := netip.PrefixFrom(n.PrivateIP, c.config.SubnetOf(n.Node).Bits())
	where := n.Pos("privateIp")
	if where.Line == 0 {
		where = n.Pos("index")
	}
	whole := c.text(&net.CIDR)
	vlan := machine.Link{
		VLAN: c.number(&net.VSwitch.VLANID), MTU: c.number(&net.MTU),
		Address: machine.Option{Value: private.String(), Pos: where},
		Routes:  []machine.Route{{Destination: whole, Gateway: by(whole)}},
	}
	for _, r := range c.extraRoutes() {
		if r.Destination.Value != "" { // these servers have a default route of their own
			vlan.Routes = append(vlan.Routes, machine.Route{Destination: r.Destination, Gateway: by(r.Destination)})
		}
	}
	return []machine.Link{vlan}
}

// Ports of dedicated servers that others may be let in to.
const (
	talosPort           = "50000"
	kubeSpanPort        = "51820"
	ciliumWireGuardPort = "51871"
	everyPort           = "1-65535"
)

// dedicatedIngress are the rules of the cluster's firewall for servers that no firewall of
// Hetzner Cloud protects: Talos keeps them itself. The private network gets in, as there.
// Where nodes are reached by their public addresses and no rule says from where, the Talos
// API is open, which takes a certificate of the cluster: this machine cannot be let in for
// a session, as it can at Hetzner Cloud.
func (c places) dedicatedIngress(access schemas.InfraAccess) machine.IngressOptions {
	f := &c.config.Hetzner.Firewall
	o := machine.IngressOptions{Block: c.said("block", f)}
	add := func(name, protocol, ports string, sources ...machine.Option) {
		if len(sources) > 0 {
			o.Rules = append(o.Rules, machine.IngressRule{Name: c.said(name, f), Protocol: protocol, Ports: ports, Sources: sources})
		}
	}
	inside, anywhere := c.insideSources(), []machine.Option{c.said("0.0.0.0/0", f), c.said("::/0", f)}
	add("cluster-tcp", "tcp", everyPort, inside...)
	add("cluster-udp", "udp", everyPort, inside...)
	talos := c.texts(&f.TalosAPISource)
	if len(talos) == 0 && access.Mode == "public" && access.Jump == "" {
		talos = anywhere
	}
	add("talos-api", "tcp", talosPort, talos...)
	if c.config.Talos.KubeSpan.Enabled {
		add("kubespan", "udp", kubeSpanPort, anywhere...)
	}
	if c.config.CNI.Type == config.Cilium && c.config.CNI.Encryption == "wireguard" {
		add("cilium-wireguard", "udp", ciliumWireGuardPort, anywhere...)
	}
	for i := range f.ExtraRules {
		r := &f.ExtraRules[i]
		if r.Direction == "in" && (r.Protocol == "tcp" || r.Protocol == "udp") {
			ports := r.Port
			if ports == "any" {
				ports = everyPort
			}
			add(fmt.Sprintf("extra-%d", i+1), r.Protocol, ports, c.texts(&r.SourceIPs)...)
		}
	}
	return o
}

// insideSources are the addresses of the private network, and of pods.
func (c places) insideSources() []machine.Option {
	net := &c.config.Network
	all := []machine.Option{c.text(&net.CIDR)}
	whole, err := netip.ParsePrefix(net.CIDR)
	for i, text := range net.PodCidrs {
		if pods, bad := netip.ParsePrefix(text); err == nil && bad == nil && !whole.Overlaps(pods) {
			all = append(all, c.said(text, &net.PodCidrs, strconv.Itoa(i)))
		}
	}
	return slices.Clip(all)
}
