package infra

import (
	"fmt"

	"github.com/talosgen/talosgen/internal/diag"
)

// userData is what a server is given when it is made. A node with a public
// address needs none: it waits for its configuration. One without has no way
// out of the private network, whose DHCP tells no default route since August
// 2025: it gets a route to the network's gateway, as a configuration of nothing
// but its link, which Talos takes in maintenance mode.
func (in *Input) userData() (string, error) {
	if in.PublicIPv4 || in.PublicIPv6 {
		return "", nil
	}
	if !in.LinkDocuments {
		return "", diag.On("infrastructure", "nodes without public addresses need the documents of Talos 1.12, by which they get their default route").
			WithHint("set talos.version to 1.12 or later, or give the nodes public addresses")
	}
	gateway, err := in.Ranges.Gateway()
	if err != nil {
		return "", diag.On("infrastructure", "%v", err)
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
`, gateway), nil
}
