package cloud

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

func TestReverseName(t *testing.T) {
	for _, tt := range []struct{ template, ip, want string }{
		{"", "203.0.113.5", ""},
		{"node.example.com", "203.0.113.5", "node.example.com"},
		{"{{ ip-labels }}.example.com", "203.0.113.5", "5.113.0.203.example.com"},
		{"h{{id}}-{{ id }}.example.com", "203.0.113.5", "h42-42.example.com"},
		{"{{ ip-labels }}", "2001:db8::/64", "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2"},
		{"{{ ip-labels }}", "2001:db8::7", "7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2"},
		{"{{ ip-labels }}", "203.0.113.5/32", "5.113.0.203"},
		{"{{ ip-labels }}", "nonsense", "nonsense"},
		{"{{ other }}", "203.0.113.5", "{{ other }}"},
		{"a {{ id", "203.0.113.5", "a {{ id"},
	} {
		if got := ReverseName(tt.template, 42, tt.ip); got != tt.want {
			t.Errorf("%q of %s: %q, want %q", tt.template, tt.ip, got, tt.want)
		}
	}
}

func TestReverseAddress(t *testing.T) {
	for ip, want := range map[string]string{
		"203.0.113.5": "203.0.113.5", "2001:db8::/64": "2001:db8::1", "2001:db8:0::7": "2001:db8::7", "203.0.113.5/32": "203.0.113.5", "x": "x",
	} {
		if got := ReverseAddress(ip); got != want {
			t.Errorf("%s: %s, want %s", ip, got, want)
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, tt := range []struct{ in, want, cents string }{
		{"0", "0.00", "0.00"},
		{"7.5500000000", "7.55", "7.55"},
		{"7.5549", "7.5549", "7.55"},
		{"7.555", "7.555", "7.56"},
		{"100", "100.00", "100.00"},
		{"0.0000000001", "0.0000000001", "0.00"},
	} {
		r, _ := new(big.Rat).SetString(tt.in)
		if got := decimal(r); got != tt.want || cents(got) != tt.cents {
			t.Errorf("%s: %s, %s", tt.in, got, cents(got))
		}
	}
	if got := cents("x"); got != "?" {
		t.Error(got)
	}
}

func TestDifference(t *testing.T) {
	for _, tt := range []struct{ before, after, want string }{
		{"1.00", "2.50", "+1.50"}, {"2.50", "1.00", "-1.50"}, {"1", "1", "+0.00"}, {"0.002", "0.00", "+0.00"}, {"0.00", "0.002", "+0.00"}, {"x", "1", "?"}, {"1", "", "?"},
	} {
		if got := difference(tt.before, tt.after); got != tt.want {
			t.Errorf("%s to %s: %s", tt.before, tt.after, got)
		}
	}
}

func TestNewestImage(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	image := func(id int64, created time.Time, status, arch string) Image {
		return Image{Meta: Meta{ID: id, Created: created, Labels: map[string]string{"os": "talos"}}, Status: status, Architecture: arch}
	}
	m := &images{&planner{observed: &Observed{Images: []Image{
		image(1, day(1), "available", "x86"), image(4, day(3), "available", "x86"), image(3, day(3), "available", "x86"),
		image(5, day(4), "creating", "x86"), image(6, day(5), "available", "arm"),
		{Meta: Meta{ID: 7, Name: "debian-13", Labels: map[string]string{"os": "talos"}}, Status: "available", Architecture: "x86"},
	}}}}
	if got := m.imageID(schemas.InfraImage{Name: "debian-13", Architecture: "x86"}); got != 7 {
		t.Errorf("by name: %d", got)
	}
	for _, tt := range []struct {
		selector, arch string
		want           int64
	}{{"os=talos", "x86", 4}, {"os=talos", "arm", 6}, {"os=other", "x86", 0}, {"os=(", "x86", 0}} {
		if got := m.imageID(schemas.InfraImage{Selector: tt.selector, Architecture: tt.arch}); got != tt.want {
			t.Errorf("%s for %s: %d, want %d", tt.selector, tt.arch, got, tt.want)
		}
	}
}

func TestOwner(t *testing.T) {
	desired := &schemas.Infrastructure{Cluster: "prod", AutoscalerPools: []schemas.InfraAutoscalerPool{{Group: "prod-auto"}}}
	observed := &Observed{
		Networks: []Network{{Meta: Meta{ID: 1, Labels: map[string]string{"cluster": "prod", "managed-by": "talosgen"}}}},
		Servers:  []Server{{Meta: Meta{ID: 2, Labels: map[string]string{"cluster": "prod", "managed-by": "talosgen"}}}},
	}
	o := newOwner(desired, observed)
	inNetwork, elsewhere := []PrivateNet{{Network: 1}}, []PrivateNet{{Network: 9}}
	group := func(name string) Meta { return Meta{Labels: map[string]string{schemas.LabelNodeGroup: name}} }
	ccm := Meta{Labels: map[string]string{labelService: "uid"}}
	csi := func(labels ...string) Meta {
		l := map[string]string{schemas.LabelManagedBy: madeByCSI}
		if len(labels) > 0 {
			l[schemas.LabelCluster] = labels[0]
		}
		return Meta{Labels: l}
	}
	for name, tt := range map[string]struct{ got, want bool }{
		"a server of a group of ours":             {o.made(Server{Meta: group("prod-auto"), PrivateNets: elsewhere}), true},
		"a server of an old group in our network": {o.made(Server{Meta: group("prod-old"), PrivateNets: inNetwork}), true},
		"a server of a group that begins alike":   {o.made(Server{Meta: group("prod-auto-two"), PrivateNets: elsewhere}), false},
		"a server of no group in our network":     {o.made(Server{PrivateNets: inNetwork}), false},
		"a load balancer in our network":          {o.madeBalancer(LoadBalancer{Meta: ccm, PrivateNets: inNetwork}), true},
		"a load balancer to our server":           {o.madeBalancer(LoadBalancer{Meta: ccm, Targets: []Target{{Server: 2}}}), true},
		"a load balancer to another server":       {o.madeBalancer(LoadBalancer{Meta: ccm, Targets: []Target{{Server: 3}}, PrivateNets: elsewhere}), false},
		"a load balancer made by hand":            {o.madeBalancer(LoadBalancer{PrivateNets: inNetwork}), false},
		"a volume at our server":                  {o.madeVolume(Volume{Meta: csi(), Server: 2}), true},
		"a volume with our label":                 {o.madeVolume(Volume{Meta: csi("prod")}), true},
		"a volume at no server":                   {o.madeVolume(Volume{Meta: csi()}), false},
		"a volume of another cluster":             {o.madeVolume(Volume{Meta: csi("dev"), Server: 3}), false},
		"a volume made by hand at our server":     {o.madeVolume(Volume{Server: 2}), false},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v", name, tt.got)
		}
	}
}

// Two objects that swap addresses cannot be planned; the error says so.
func TestOrderRefusesCircles(t *testing.T) {
	m := &changeSet{plan: &Plan{Changes: []Change{
		{Key: "load-balancer/a", Kind: KindLoadBalancer, Name: "a", Action: Update, gone: []plan.Key{"load-balancer/b"}},
		{Key: "load-balancer/b", Kind: KindLoadBalancer, Name: "b", Action: Update, gone: []plan.Key{"load-balancer/a"}},
	}}}
	if err := m.order(); err == nil || !strings.Contains(err.Error(), "these changes wait for each other: load-balancer/a, load-balancer/b") {
		t.Error(err)
	}
}

func TestUnknownInput(t *testing.T) {
	for _, tt := range []struct {
		desired schemas.Infrastructure
		want    string
	}{
		{schemas.Infrastructure{Provider: "hetzner"}, "the cluster has no name"},
		{schemas.Infrastructure{Cluster: "prod", Provider: "aws"}, `there is no provider "aws"`},
	} {
		if _, err := Make(tt.desired, Observed{}, plan.Consent{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Error(err)
		}
	}
}
