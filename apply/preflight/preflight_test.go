package preflight

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/execute/executetest"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/schemas"
)

// spec is a small cluster that nothing is wrong with.
func spec() plantest.Spec {
	return plantest.Spec{Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "w", Offset: 10, Count: 2, Groups: true}}, API: true, FloatingIP: true}
}

// look makes a plan and runs the checks.
func look(t *testing.T, desired schemas.Infrastructure, observed cloudplan.Observed, more func(*Input)) []Finding {
	t.Helper()
	p, err := cloudplan.Make(desired, observed, plan.Consent{})
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Plan: p, TokenWrites: Yes}
	if more != nil {
		more(&in)
	}
	return Run(in)
}

func TestNothingIsWrong(t *testing.T) {
	desired := spec().Infrastructure()
	got := Text(look(t, desired, plantest.Empty(), nil))
	want := `ok       token         it is valid and may write
ok       name          nothing else in the project uses the name of the cluster
ok       plan          nothing in the plan is refused
ok       server types  for 2 servers: cpx11 in nbg1, cpx11 in fsn1, cpx21 in nbg1, cpx21 in fsn1
ok       server types  for 1 server: cpx21 in nbg1, cpx21 in fsn1, cpx31 in nbg1, cpx31 in fsn1
ok       images        os=talos,talos_version=v1.14.1/x86 is made first, with a cpx11 in nbg1
ok       limits        the cluster keeps within the limits of Hetzner's resources
ok       account       more than now: 3 servers, 7 cores, 3 public IPv4 addresses, 1 load balancer, 1 floating IP, 1 network; Hetzner's console shows the limits of the account, its API does not
ok       ranges        no server is in two networks with overlapping ranges
ok       access        apply reaches the servers without passing a firewall
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	desired = executetest.Infrastructure(spec())
	for _, f := range look(t, desired, executetest.Stand(t, desired), nil) {
		if f.State != OK {
			t.Errorf("of a cluster that is there: %+v", f)
		}
	}
}

func TestFindings(t *testing.T) {
	for _, tt := range []struct {
		name     string
		desired  func(*schemas.Infrastructure)
		observed func(*cloudplan.Observed)
		in       func(*Input)
		state    State
		want     string // of the text of a finding with that state
	}{
		{"a token that only reads", nil, nil, func(in *Input) { in.TokenWrites = No }, Failed, "it may only read"},
		{"a token that nobody tried", nil, nil, func(in *Input) { in.TokenWrites = Unknown }, OK, "shows with the first write"},
		{"another cluster of the name", nil, func(o *cloudplan.Observed) {
			o.Servers = append(o.Servers, cloudplan.Server{Meta: cloudplan.Meta{ID: 7, Name: "prod-x", Labels: map[string]string{"cluster": "prod", "managed-by": "terraform"}}})
		}, nil, Failed, "server/prod-x has the label cluster=prod, but is not managed by talosgen (id 7)"},
		{"what the cluster made", nil, func(o *cloudplan.Observed) {
			o.Servers = append(o.Servers, cloudplan.Server{Meta: cloudplan.Meta{ID: 7, Name: "prod-x", Labels: map[string]string{"cluster": "prod", "hcloud/node-group": "prod-auto"}}})
		}, nil, OK, "nothing else in the project uses the name"},
		{"a refusal", func(d *schemas.Infrastructure) { d.Servers[0].SSHKeys = []string{"lost"} }, nil, nil, Failed, "server/prod-control-plane-1: there is no SSH key lost in the project"},
		{"sold out", nil, func(o *cloudplan.Observed) {
			for i := range o.Catalogue.ServerTypes {
				for j := range o.Catalogue.ServerTypes[i].Locations {
					o.Catalogue.ServerTypes[i].Locations[j].Available = false
				}
			}
		}, nil, Warning, "for 2 servers Hetzner has none of cpx11 and what may take its place now"},
		{"too many servers", func(d *schemas.Infrastructure) {
			d.AutoscalerPools = []schemas.InfraAutoscalerPool{{Max: 98}}
		}, nil, nil, Failed, "servers in the network, with all that the autoscaler may make: 101; Hetzner allows 100"},
		{"as many servers as can be", func(d *schemas.Infrastructure) {
			d.AutoscalerPools = []schemas.InfraAutoscalerPool{{Max: 97}}
		}, nil, nil, OK, "the cluster keeps within the limits"},
		{"a shared network", func(d *schemas.Infrastructure) {
			d.Network.Existing, d.AutoscalerPools = true, []schemas.InfraAutoscalerPool{{Max: 97}}
		}, func(o *cloudplan.Observed) {
			o.Networks = []cloudplan.Network{{Meta: cloudplan.Meta{ID: 1, Name: "prod"}, IPRange: "10.0.0.0/16", Servers: []int64{9}}}
		}, nil, Failed, "101; Hetzner allows 100"},
		{"too many ranges", func(d *schemas.Infrastructure) {
			d.Firewalls[0].Rules[0].SourceIPs = make([]string, 101)
		}, nil, nil, Failed, `ranges of the rule "rule 0": 101; Hetzner allows 100`},
		{"too full a group", func(d *schemas.Infrastructure) {
			for len(d.Servers) < 14 {
				d.Servers = append(d.Servers, d.Servers[2])
			}
		}, nil, nil, Failed, "servers in the placement group prod-w-pg-1: 13; Hetzner allows 10"},
		{"overlapping networks", nil, func(o *cloudplan.Observed) {
			o.Networks = []cloudplan.Network{{Meta: cloudplan.Meta{ID: 1, Name: "office"}, IPRange: "10.0.128.0/17"}}
			o.Servers = []cloudplan.Server{{Meta: cloudplan.Meta{ID: 2, Name: "prod-w-1", Labels: map[string]string{"cluster": "prod", "managed-by": "talosgen"}}, PrivateNets: []cloudplan.PrivateNet{{Network: 1, IP: "10.0.128.2"}}}}
		}, nil, Failed, "server/prod-w-1 is also in the network office, whose range 10.0.128.0/17 overlaps 10.0.0.0/16"},
		{"no way to private nodes", func(d *schemas.Infrastructure) { d.Access.Mode, d.Access.CurrentIPv4 = "private", true }, nil,
			nil, Warning, "there is no gateway"},
		{"a session", func(d *schemas.Infrastructure) { d.Access.CurrentIPv4 = true }, nil,
			func(in *Input) { in.Own = []netip.Addr{netip.MustParseAddr("203.0.113.7")} }, OK, "203.0.113.7 is let in for as long as apply runs"},
		{"a session of nobody knows whom", func(d *schemas.Infrastructure) { d.Access.CurrentIPv6 = true }, nil, nil, Warning, "your public address is not known"},
		{"a session of the other version", func(d *schemas.Infrastructure) { d.Access.CurrentIPv6 = true }, nil,
			func(in *Input) { in.Own = []netip.Addr{netip.MustParseAddr("203.0.113.7")} }, Warning, "your public address is 203.0.113.7, and the session firewall lets in the other IP version only"},
		{"a session of the other version, and a rule", func(d *schemas.Infrastructure) {
			d.Access.CurrentIPv6, d.Firewalls[0].Rules[0] = true, schemas.InfraRule{Direction: "in", Protocol: "tcp", Port: "any", SourceIPs: []string{"203.0.113.0/24"}}
		}, nil, func(in *Input) { in.Own = []netip.Addr{netip.MustParseAddr("203.0.113.7")} }, OK, "the firewall lets 203.0.113.7 in, without a session"},
		{"a rule lets in", func(d *schemas.Infrastructure) { d.Access.Mode = "public" }, nil,
			func(in *Input) { in.Own = []netip.Addr{netip.MustParseAddr("203.0.113.7")} }, OK, "the firewall lets 203.0.113.7 in to the Kubernetes API"},
		{"no rule lets in", func(d *schemas.Infrastructure) { d.Access.Mode = "public" }, nil,
			func(in *Input) { in.Own = []netip.Addr{netip.MustParseAddr("203.0.113.7")} }, Warning, "no rule of the firewall lets 203.0.113.7 in to the Talos API"},
		{"a rule with a range of ports lets in", func(d *schemas.Infrastructure) {
			d.Access.Mode, d.Firewalls[0].Rules[0] = "public", schemas.InfraRule{Direction: "in", Protocol: "tcp", Port: "49000-51000", SourceIPs: []string{"203.0.113.7"}}
		}, nil, func(in *Input) { in.Own = []netip.Addr{netip.MustParseAddr("203.0.113.7")} }, OK, "the firewall lets 203.0.113.7 in to the Talos API"},
		{"nobody is let in afterwards", func(d *schemas.Infrastructure) {
			d.Access.Mode, d.Access.CurrentIPv4, d.Firewalls[0].Rules = "public", true, nil
		}, nil, nil, Warning, "once apply has ended, the firewall blocks the Talos API"},
		{"nobody knows the address", func(d *schemas.Infrastructure) { d.Access.Mode = "public" }, nil, nil, Warning, "your public address is not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			desired, observed := spec().Infrastructure(), plantest.Empty()
			if tt.desired != nil {
				tt.desired(&desired)
			}
			if tt.observed != nil {
				tt.observed(&observed)
			}
			found := look(t, desired, observed, tt.in)
			for _, f := range found {
				if f.State == tt.state && strings.Contains(f.Text, tt.want) {
					return
				}
			}
			t.Errorf("%s %q is not in\n%s", tt.state, tt.want, Text(found))
		})
	}
}

// Whether somebody reaches the APIs after the run is said of firewalls whose
// rules are known, and only of nodes that are reached by public addresses.
func TestClosedToAll(t *testing.T) {
	rule := func(port string) schemas.InfraRule {
		return schemas.InfraRule{Direction: "in", Protocol: "tcp", Port: port, SourceIPs: []string{"203.0.113.0/24"}}
	}
	for _, tt := range []struct {
		name   string
		change func(*schemas.Infrastructure)
		want   string // the end of the text; empty: nothing is said
	}{
		{"no rule", func(*schemas.Infrastructure) {}, "blocks the Kubernetes API and the Talos API"},
		{"a rule for one", func(d *schemas.Infrastructure) { d.Firewalls[0].Rules = []schemas.InfraRule{rule("6443")} }, "blocks the Talos API"},
		{"rules for both", func(d *schemas.Infrastructure) {
			d.Firewalls[0].Rules = []schemas.InfraRule{rule("6443"), rule("50000")}
		}, ""},
		{"a rule for all ports", func(d *schemas.Infrastructure) { d.Firewalls[0].Rules = []schemas.InfraRule{rule("any")} }, ""},
		{"a rule without ranges", func(d *schemas.Infrastructure) {
			d.Firewalls[0].Rules = []schemas.InfraRule{{Direction: "in", Protocol: "tcp", Port: "any"}}
		}, "blocks the Kubernetes API and the Talos API"},
		{"rules for another part of the cluster", func(d *schemas.Infrastructure) {
			d.Firewalls[0].Rules, d.Firewalls[0].ApplyTo = []schemas.InfraRule{rule("any")}, "cluster=prod,role=worker"
		}, "blocks the Kubernetes API and the Talos API"},
		{"a public load balancer", func(d *schemas.Infrastructure) {
			d.LoadBalancers = []schemas.InfraLoadBalancer{{PublicInterface: true, Services: []schemas.InfraService{{ListenPort: 443, DestinationPort: 6443}}}}
		}, "blocks the Talos API"},
		{"a private load balancer", func(d *schemas.Infrastructure) {
			d.LoadBalancers = []schemas.InfraLoadBalancer{{Services: []schemas.InfraService{{DestinationPort: 6443}}}}
		}, "blocks the Kubernetes API and the Talos API"},
		{"a firewall of others", func(d *schemas.Infrastructure) { d.Firewalls = []schemas.InfraFirewall{{ExistingID: 7}} }, ""},
		{"no firewall", func(d *schemas.Infrastructure) { d.Firewalls = nil }, ""},
		{"a firewall that only has records", func(d *schemas.Infrastructure) {
			d.Firewalls = []schemas.InfraFirewall{{Name: "prod-records"}}
		}, ""},
		{"private access", func(d *schemas.Infrastructure) { d.Access.Mode = "private" }, ""},
		{"a server that leads there", func(d *schemas.Infrastructure) { d.Access.Jump = "prod-nat" }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := spec().Infrastructure()
			d.Access.Mode, d.LoadBalancers, d.Firewalls[0].Rules = "public", nil, nil
			tt.change(&d)
			found := ClosedToAll(&d)
			if tt.want == "" && len(found) == 0 {
				return
			}
			if len(found) != 1 || !strings.HasSuffix(found[0].Text, tt.want) || tt.want == "" || found[0].State != Warning || found[0].Check != Access {
				t.Errorf("%+v", found)
			}
		})
	}
}

// Each check says something, whatever it is given.
func TestEveryCheckIsSeen(t *testing.T) {
	for _, in := range []Input{{Plan: &cloudplan.Plan{}}, {Plan: &cloudplan.Plan{Desired: schemas.Infrastructure{Network: &schemas.InfraNetwork{IPRange: "x"}}}}} {
		seen := map[string]bool{}
		for _, f := range Run(in) {
			seen[f.Check] = true
			if f.Text == "" || f.State == "" {
				t.Errorf("%+v", f)
			}
		}
		if len(seen) != len(checks) {
			t.Errorf("%d checks of %d", len(seen), len(checks))
		}
	}
}
