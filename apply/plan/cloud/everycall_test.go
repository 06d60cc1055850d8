package cloud_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/schemas"
)

// steps are a cluster's life: it is made, changed, made smaller, made private.
var steps = []plantest.Spec{
	{Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "w", Offset: 10, Count: 2, Groups: true}}, API: true, DNS: true, Protected: true, ReverseDNS: true},
	{Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "w", Offset: 10, Count: 3, Size: 1, Backups: true}}, API: true, FloatingIP: true, DNS: true, Rules: 2, Ingress: 1},
	{Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "w", Offset: 10, Count: 1, Size: 1, Groups: true}}, FloatingIP: true, Protected: true},
	{Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "w", Offset: 10, Count: 1, Size: 1}}, Private: true, NodesOnly: true, ReverseDNS: true},
}

// world returns the project before a step.
func world(t *testing.T, start func() cloud.Observed, infrastructure func(plantest.Spec) schemas.Infrastructure, step int) *plantest.Model {
	m := plantest.NewModel(start())
	for _, s := range steps[:step] {
		converge(t, infrastructure(s), m)
	}
	return m
}

// A run that stops after any call, for any reason, is completed by the next.
// Every call of every step is tried.
func TestStopAfterEveryCall(t *testing.T) {
	for _, variant := range []struct {
		name           string
		start          func() cloud.Observed
		infrastructure func(plantest.Spec) schemas.Infrastructure
	}{
		{"own network", plantest.Empty, plantest.Spec.Infrastructure},
		{"network of somebody else", sharedProject, inShared},
	} {
		for i, s := range steps {
			t.Run(fmt.Sprintf("%s, step %d", variant.name, i), func(t *testing.T) {
				desired := variant.infrastructure(s)
				for k := 0; ; k++ {
					m := world(t, variant.start, variant.infrastructure, i)
					calls, err := m.Apply(mustMake(t, desired, m, everything), k)
					if err != nil {
						t.Fatal(err)
					}
					converge(t, desired, m)
					if calls < k {
						t.Logf("%d calls", calls)
						return
					}
				}
			})
		}
	}
}

// A destroy that stops after any call is completed by the next.
func TestStopAfterEveryCallOfDestroy(t *testing.T) {
	for k := 0; ; k++ {
		m := world(t, plantest.Empty, plantest.Spec.Infrastructure, 2)
		done := false
		for _, limit := range []int{k, -1} {
			p, err := cloud.Destroy(steps[1].Infrastructure(), m.Observed, plan.Policy{Unprotect: "prod"})
			if err != nil {
				t.Fatal(err)
			}
			calls, err := m.Apply(p, limit)
			if err != nil {
				t.Fatalf("%v, of\n%s", err, p)
			}
			done = done || limit == k && calls < k
		}
		if left := owned(m, "prod"); len(left) > 0 {
			t.Fatalf("after %d calls, and again: %v", k, left)
		}
		if done {
			return
		}
	}
}

// sharedProject has a network, with a subnet and a route, and a firewall of
// somebody else.
func sharedProject() cloud.Observed {
	o := plantest.Empty()
	o.Networks = []cloud.Network{{
		Meta: cloud.Meta{ID: 41, Name: "office"}, IPRange: "10.0.0.0/16",
		Subnets: []cloud.Subnet{{Type: "cloud", IPRange: "10.0.1.0/24", NetworkZone: "eu-central"}, {Type: "cloud", IPRange: "10.0.80.0/25", NetworkZone: "eu-central"}},
		Routes:  []schemas.InfraRoute{{Destination: "192.168.0.0/16", Gateway: "10.0.1.9"}},
	}}
	o.Firewalls = []cloud.Firewall{{Meta: cloud.Meta{ID: 42, Name: "office"}, Selectors: []string{"team=x"}}}
	return o
}

// inShared is a cluster in what somebody else has.
func inShared(s plantest.Spec) schemas.Infrastructure {
	d := s.Infrastructure()
	d.Network.Name, d.Network.ExistingID, d.Network.Existing = "", 41, true
	d.Network.Labels, d.Network.Protected = nil, false
	d.Firewalls[0] = schemas.InfraFirewall{ExistingID: 42, ApplyTo: d.Firewalls[0].ApplyTo}
	return d
}

// What belongs to somebody else is as it was, after all steps and after destroy.
func TestSharedThingsStay(t *testing.T) {
	m := world(t, sharedProject, inShared, len(steps))
	p, err := cloud.Destroy(inShared(steps[3]), m.Observed, plan.Policy{Unprotect: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Apply(p, -1); err != nil {
		t.Fatal(err)
	}
	was, is := sharedProject(), m.Observed
	for _, s := range was.Networks[0].Subnets {
		if !slices.Contains(is.Networks[0].Subnets, s) {
			t.Errorf("the subnet %s is gone", s.IPRange)
		}
	}
	if !slices.Equal(is.Networks[0].Routes, was.Networks[0].Routes) || is.Networks[0].Labels != nil || is.Networks[0].Protected {
		t.Errorf("the network is %+v", is.Networks[0])
	}
	if !slices.Equal(is.Firewalls[0].Selectors, was.Firewalls[0].Selectors) || is.Firewalls[0].Rules != nil || is.Firewalls[0].Labels != nil {
		t.Errorf("the firewall is %+v", is.Firewalls[0])
	}
}
