package infra

import "fmt"

// linkDocuments is the first minor version of Talos 1 that has documents for
// links.
const linkDocuments = 12

// userData is what a node is given when it is made. One with a public address
// needs nothing: it waits for its configuration. One without has no way out of
// the private network, whose DHCP tells no default route since August 2025: it
// gets a route to the network's gateway, as a configuration of nothing but its
// link, which Talos takes in maintenance mode.
func (r serverResolver) userData() string {
	n := r.c.Network
	if n.PublicIPv4 || n.PublicIPv6 {
		return ""
	}
	if r.c.TalosMinor() < linkDocuments {
		r.fail("network.publicIpv4", fmt.Sprintf("set talos.version to 1.%d or later, or give the nodes public addresses", linkDocuments),
			"nodes without public addresses need the documents of Talos 1.%d, by which they get their default route", linkDocuments)
		return ""
	}
	gateway, err := r.c.Ranges().Gateway()
	if err != nil {
		r.fail("network.cidr", "", "%v", err)
		return ""
	}
	return fmt.Sprintf(`apiVersion: v1alpha1
kind: LinkConfig
name: eth0
routes:
    - gateway: %s
---
apiVersion: v1alpha1
kind: DHCPv4Config
name: eth0
`, gateway)
}
