package preflight

import (
	"net/netip"
	"testing"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

func TestStanding(t *testing.T) {
	in := func(port, source string) schemas.InfraRule {
		return schemas.InfraRule{Direction: "in", Protocol: "tcp", Port: port, SourceIPs: []string{source}}
	}
	const office, elsewhere = "203.0.113.0/24", "192.0.2.0/24"
	both := []schemas.InfraRule{in("6443", office), in("50000", office)}
	session := map[string]string{schemas.LabelComponent: schemas.ComponentSession}
	for _, tt := range []struct {
		name            string
		planes, workers []cloudplan.Firewall // nil: none is applied
		want            bool
	}{
		{"no servers", nil, nil, false},
		{"both APIs", []cloudplan.Firewall{{Rules: both}}, []cloudplan.Firewall{{Rules: both[1:]}}, true},
		{"of two firewalls", []cloudplan.Firewall{{Rules: both[:1]}, {Rules: both[1:]}}, []cloudplan.Firewall{{Rules: both}}, true},
		{"not the Talos API", []cloudplan.Firewall{{Rules: both[:1]}}, []cloudplan.Firewall{{Rules: both}}, false},
		{"not the Kubernetes API", []cloudplan.Firewall{{Rules: both[1:]}}, []cloudplan.Firewall{{Rules: both}}, false},
		{"not the workers", []cloudplan.Firewall{{Rules: both}}, []cloudplan.Firewall{{Rules: []schemas.InfraRule{in("any", elsewhere)}}}, false},
		{"by a session of another run", []cloudplan.Firewall{{Rules: nil}, {Meta: cloudplan.Meta{Labels: session}, Rules: both}}, []cloudplan.Firewall{{Rules: both}}, false},
		{"nothing is filtered", []cloudplan.Firewall{}, []cloudplan.Firewall{{Meta: cloudplan.Meta{Labels: session}}}, true},
	} {
		var o cloudplan.Observed
		add := func(role, cluster string, firewalls []cloudplan.Firewall) {
			if firewalls == nil {
				return
			}
			s := cloudplan.Server{Meta: cloudplan.Meta{Labels: map[string]string{schemas.LabelCluster: cluster, schemas.LabelRole: role}}}
			for _, f := range firewalls {
				f.ID = int64(len(o.Firewalls) + 1)
				o.Firewalls = append(o.Firewalls, f)
				s.Firewalls = append(s.Firewalls, cloudplan.AppliedFirewall{ID: f.ID})
			}
			o.Servers = append(o.Servers, s)
		}
		add(schemas.RoleControlPlane, "prod", tt.planes)
		add(schemas.RoleWorker, "prod", tt.workers)
		add(schemas.RoleWorker, "other", []cloudplan.Firewall{{}})
		add(schemas.RoleNATGateway, "prod", []cloudplan.Firewall{{}})
		if got := Standing(&o, "prod", netip.MustParseAddr("203.0.113.7")); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
