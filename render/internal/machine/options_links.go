package machine

import (
	"strconv"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Link is a network link of a node. What has no value is left to Talos.
type Link struct {
	Name Option // such as eth0
	MAC  Option // or its hardware address
	MTU  Option
	Up   Option // "true" to use it though nothing else is said of it
	DHCP Option // "true" to ask for an IPv4 address

	VLAN    Option // the VLAN of what follows
	Address Option // with its prefix length
	Routes  []Route
	VIP     *VIP
	// VLANs are more of them on the link, each with an MTU, an address and routes of its
	// own.
	VLANs []Link
}

// Route is a route of a link.
type Route struct {
	Destination Option // no value: everything
	Gateway     Option // no value: on the link itself
	Metric      Option
}

// VIP is an address that control planes share.
type VIP struct {
	Address Option
	// Token is Hetzner Cloud's, if it is its API that moves the address; else
	// nodes announce it on their link.
	Token *SecretOption
}

// linkAlias is the name given to a link that is known by its hardware address.
const linkAlias = "net0"

// linkWriter writes addresses and routes.
type linkWriter struct{ *optionBuilder }

// links sets addresses and routes: in a list of interfaces, or in documents for each.
func (b linkWriter) links() {
	for _, l := range b.options.Links {
		if p := b.at("machine.network.interfaces"); p.moved() {
			b.linkDocuments(l)
		} else {
			b.append(p, b.legacyLink(l))
		}
	}
}

// legacyLink is an item of the interfaces of the v1alpha1 document.
func (b linkWriter) legacyLink(l Link) *yaml.Node {
	pos := l.Name.Pos
	if l.Name.Value == "" {
		pos = l.MAC.Pos
	}
	link := mappingNode(pos)
	if l.Name.Value != "" {
		put(link, "interface", stringNode(l.Name.Value, pos))
	} else {
		selector := mappingNode(pos)
		put(selector, "hardwareAddr", stringNode(l.MAC.Value, pos))
		put(link, "deviceSelector", selector)
	}
	putNumber(link, "mtu", l.MTU)
	if l.DHCP.Value != "" {
		put(link, "dhcp", boolNode(true, l.DHCP.Pos))
	}
	on, vlans := link, []*yaml.Node(nil)
	if l.VLAN.Value != "" {
		on = mappingNode(l.VLAN.Pos)
		putNumber(on, "vlanId", l.VLAN)
		putNumber(on, "mtu", l.MTU)
		vlans = append(vlans, on)
	}
	for _, v := range l.VLANs {
		vlan := mappingNode(v.VLAN.Pos)
		putNumber(vlan, "vlanId", v.VLAN)
		putNumber(vlan, "mtu", v.MTU)
		v.legacyAddresses(vlan)
		vlans = append(vlans, vlan)
	}
	if len(vlans) > 0 {
		put(link, "vlans", sequenceNode(vlans...))
	}
	l.legacyAddresses(on)
	if l.VIP != nil {
		put(on, "vip", b.legacyVIP(*l.VIP))
	}
	return link
}

// legacyAddresses puts the address and the routes of a link where they belong to.
func (l Link) legacyAddresses(on *yaml.Node) {
	if l.Address.Value != "" {
		put(on, "addresses", sequenceNode(stringNode(l.Address.Value, l.Address.Pos)))
	}
	var routes []*yaml.Node
	for _, r := range l.Routes {
		routes = append(routes, r.legacy())
	}
	if len(routes) > 0 {
		put(on, "routes", sequenceNode(routes...))
	}
}

func (b linkWriter) legacyVIP(v VIP) *yaml.Node {
	vip := mappingNode(v.Address.Pos)
	put(vip, "ip", stringNode(v.Address.Value, v.Address.Pos))
	if v.Token != nil {
		cloud := mappingNode(v.Token.Pos)
		put(cloud, "apiToken", b.token(*v.Token))
		put(vip, "hcloud", cloud)
	}
	return vip
}

func (b *optionBuilder) token(o SecretOption) *yaml.Node {
	node := stringNode(o.Value.Reveal(), o.Pos)
	b.keepSecret(node)
	return node
}

// legacy is the route in the v1alpha1 document, which writes the default out.
func (r Route) legacy() *yaml.Node {
	node := mappingNode(r.pos())
	destination := r.Destination
	if destination.Value == "" {
		destination = Option{anyNetwork(r.Gateway.Value), r.pos()}
	}
	put(node, "network", stringNode(destination.Value, destination.Pos))
	if r.Gateway.Value != "" {
		put(node, "gateway", stringNode(r.Gateway.Value, r.Gateway.Pos))
	}
	putNumber(node, "metric", r.Metric)
	return node
}

func (r Route) pos() diag.Pos {
	if r.Destination.Value != "" {
		return r.Destination.Pos
	}
	return r.Gateway.Pos
}

// document is the route in a document of a link.
func (r Route) document() *yaml.Node {
	node := mappingNode(r.pos())
	if r.Destination.Value != "" {
		put(node, "destination", stringNode(r.Destination.Value, r.Destination.Pos))
	}
	if r.Gateway.Value != "" {
		put(node, "gateway", stringNode(r.Gateway.Value, r.Gateway.Pos))
	}
	putNumber(node, "metric", r.Metric)
	return node
}

func anyNetwork(gateway string) string {
	if strings.Contains(gateway, ":") {
		return "::/0"
	}
	return "0.0.0.0/0"
}

func (b linkWriter) linkDocuments(l Link) {
	name := l.Name
	if name.Value == "" {
		name = Option{linkAlias, l.MAC.Pos}
		alias := ID{mainKind, "LinkAliasConfig", linkAlias}
		b.set(alias, l.MAC.Pos, `mac(link.permanent_addr) == "`+strings.ToLower(l.MAC.Value)+`"`, "selector", "match")
	}
	link, parent := place{id: ID{mainKind, "LinkConfig", name.Value}}, name
	b.truth(link, l.Up, "up")
	if l.DHCP.Value != "" {
		b.document(ID{mainKind, "DHCPv4Config", name.Value}, l.DHCP.Pos)
	}
	b.number(link, l.MTU, "mtu")
	if l.VLAN.Value != "" {
		link, name = b.vlanDocument(l, name)
	}
	b.addressDocuments(l, link)
	if l.VIP != nil {
		b.vipDocument(*l.VIP, name)
	}
	for _, v := range l.VLANs {
		on, _ := b.vlanDocument(v, parent)
		b.addressDocuments(v, on)
	}
}

// vlanDocument is the document of the VLAN of a link, and its name.
func (b linkWriter) vlanDocument(l Link, parent Option) (place, Option) {
	name := parent
	id, _ := strconv.ParseUint(l.VLAN.Value, 10, 16) // it was checked
	name.Value = nethelpers.VLANLinkName(parent.Value, uint16(id))
	vlan := b.named("VLANConfig", Option{name.Value, l.VLAN.Pos})
	b.number(vlan, l.VLAN, "vlanID")
	b.put(vlan, stringNode(parent.Value, parent.Pos), "parent")
	b.number(vlan, l.MTU, "mtu")
	return vlan, name
}

// addressDocuments puts the address and the routes of a link into its document.
func (b linkWriter) addressDocuments(l Link, link place) {
	if l.Address.Value != "" {
		address := mappingNode(l.Address.Pos)
		put(address, "address", stringNode(l.Address.Value, l.Address.Pos))
		b.append(link, address, "addresses")
	}
	for _, r := range l.Routes {
		b.append(link, r.document(), "routes")
	}
}

func (b linkWriter) vipDocument(v VIP, link Option) {
	kind := "Layer2VIPConfig"
	if v.Token != nil {
		kind = "HCloudVIPConfig"
	}
	p := b.named(kind, v.Address)
	b.put(p, stringNode(link.Value, v.Address.Pos), "link")
	if v.Token != nil {
		b.put(p, b.token(*v.Token), "apiToken")
	}
}

// number sets a number; what has no value is left out.
func (b *optionBuilder) number(p place, o Option, key string) {
	if n, err := strconv.Atoi(o.Value); err == nil {
		b.put(p, intNode(n, o.Pos), key)
	}
}

func putNumber(mapping *yaml.Node, key string, o Option) {
	if n, err := strconv.Atoi(o.Value); err == nil {
		put(mapping, key, intNode(n, o.Pos))
	}
}
