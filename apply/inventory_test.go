package apply

import (
	"strings"
	"testing"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// TestAutoscaledMachines says which servers are followed, and where they are.
func TestAutoscaledMachines(t *testing.T) {
	pool := schemas.InfraAutoscalerPool{Name: "burst", Group: "demo-burst", Discovery: true}
	quiet := schemas.InfraAutoscalerPool{Name: "quiet", Group: "demo-quiet"}
	infra := &schemas.Infrastructure{Cluster: "demo", AutoscalerPools: []schemas.InfraAutoscalerPool{pool, quiet}}
	server := func(name, group, cluster, status string) cloudplan.Server {
		labels := map[string]string{schemas.LabelNodeGroup: group}
		if cluster != "" {
			labels[schemas.LabelCluster] = cluster
		}
		s := cloudplan.Server{Meta: cloudplan.Meta{ID: 7, Name: name, Labels: labels}, Status: status, PrivateNets: []cloudplan.PrivateNet{{IP: "10.0.64.9"}}}
		s.PublicIPv4.IP = "203.0.113.9"
		return s
	}
	o := cloudplan.Observed{Servers: []cloudplan.Server{
		server("demo-burst-1", "demo-burst", "demo", "running"),
		server("demo-burst-2", "demo-burst", "", "running"),
		server("demo-burst-3", "demo-burst", "demo", "initializing"),
		server("demo-quiet-1", "demo-quiet", "demo", "running"),
		server("demo-other-1", "demo-other", "demo", "running"),
		{Meta: cloudplan.Meta{ID: 8, Name: "demo-worker-1", Labels: map[string]string{schemas.LabelCluster: "demo"}}, Status: "running"},
	}}
	for _, c := range []struct {
		access schemas.InfraAccess
		want   string
	}{
		{schemas.InfraAccess{Mode: "private"}, "demo-burst-1 10.0.64.9, demo-burst-2 10.0.64.9"},
		{schemas.InfraAccess{Mode: "public"}, "demo-burst-1 203.0.113.9, demo-burst-2 "},
		{schemas.InfraAccess{Mode: "public", Jump: "demo-nat-gateway"}, "demo-burst-1 10.0.64.9, demo-burst-2 10.0.64.9"},
	} {
		infra.Access = c.access
		var got []string
		for _, m := range (&inventory{infra: infra}).followed(o) {
			got = append(got, m.Name+" "+m.Address)
			if m.Group != "demo-burst" || m.InTree || m.Role != "worker" || m.Address == "" && m.Unknown == "" {
				t.Errorf("%+v", m)
			}
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%+v: %s, want %s", c.access, text, c.want)
		}
	}
}
