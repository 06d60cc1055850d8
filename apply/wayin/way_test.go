package wayin

import (
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

// TestToKubernetes has trees, and what takes operators to the Kubernetes API of each.
func TestToKubernetes(t *testing.T) {
	behind := []schemas.InfraFirewall{{Name: "nodes", ApplyTo: "cluster=demo"}}
	for _, c := range []struct {
		what  string
		infra schemas.Infrastructure
		want  string
	}{
		{"machines that exist already", schemas.Infrastructure{Access: schemas.InfraAccess{Mode: "direct"}}, ""},
		{"nodes behind a gateway", schemas.Infrastructure{Access: schemas.InfraAccess{Mode: "private", Jump: "demo-nat"}},
			"its nodes are reached through demo-nat: `talosgen access proxy prod` leads there"},
		{"nodes behind two gateways", schemas.Infrastructure{Access: schemas.InfraAccess{Mode: "private", Jump: "demo-nat", JumpStandby: "demo-nat-2"}},
			"its nodes are reached through demo-nat or demo-nat-2: `talosgen access proxy prod` leads there"},
		{"a firewall without rules", schemas.Infrastructure{Access: schemas.InfraAccess{Mode: "public"}, Firewalls: behind, Servers: []schemas.InfraServer{{Name: "cp-1", Role: schemas.RoleControlPlane, Labels: map[string]string{"cluster": "demo"}}}},
			"the firewall lets no address in to the Kubernetes API: `talosgen access open prod` lets yours in for a while"},
		{"no firewall", schemas.Infrastructure{Access: schemas.InfraAccess{Mode: "public"}}, ""},
	} {
		if got := ToKubernetes(&c.infra, "prod"); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
