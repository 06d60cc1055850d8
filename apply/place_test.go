package apply

import (
	"testing"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// TestPlace: nodes are reached by public addresses where there are some, and through
// the gateway by private ones, also if the APIs are public: a life with neither IPv4
// nor IPv6 for nodes waited for an address that never came (seed 77).
func TestPlace(t *testing.T) {
	private := cloudplan.Server{Status: statusRunning, PrivateNets: []cloudplan.PrivateNet{{IP: "10.0.64.2"}}}
	public := private
	public.PublicIPv4.IP = "198.51.100.2"
	for name, c := range map[string]struct {
		access  schemas.InfraAccess
		server  cloudplan.Server
		address string
	}{
		"public":                           {schemas.InfraAccess{Mode: "public"}, public, "198.51.100.2"},
		"public, without an address":       {schemas.InfraAccess{Mode: "public"}, private, ""},
		"public, and nodes by the gateway": {schemas.InfraAccess{Mode: "public", Jump: "demo-nat-gateway"}, private, "10.0.64.2"},
		"private":                          {schemas.InfraAccess{Mode: "private", Jump: "demo-nat-gateway"}, public, "10.0.64.2"},
		"private, by a way of one's own":   {schemas.InfraAccess{Mode: "private"}, private, "10.0.64.2"},
	} {
		t.Run(name, func(t *testing.T) {
			inv := &inventory{infra: &schemas.Infrastructure{Access: c.access}}
			var m nodes.Machine
			inv.place(&m, c.server)
			if m.Address != c.address || m.Unknown == "" {
				t.Errorf("%q (%s), expected %q", m.Address, m.Unknown, c.address)
			}
		})
	}
}
