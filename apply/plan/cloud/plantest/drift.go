package plantest

import (
	"math/rand/v2"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// Drift does something to a project that somebody could do by hand at any time,
// and says what. It never takes the labels away that say whose an object is: a
// plan would be refused then, as it should be.
func (m *Model) Drift(r *rand.Rand) string {
	d := drifts[r.IntN(len(drifts))]
	d.do(m, r)
	m.settle()
	return d.what
}

// drifts are edits by hand.
var drifts = []struct {
	what string
	do   func(m *Model, r *rand.Rand)
}{
	{"delete a server", func(m *Model, r *rand.Rand) {
		o := &m.Observed
		if s := pick(r, o.Servers); s != nil {
			for i := range o.Volumes {
				if o.Volumes[i].Server == s.ID {
					o.Volumes[i].Server = 0
				}
			}
			_ = remove(&o.Servers, s.ID)
		}
	}},
	{"delete a load balancer", func(m *Model, r *rand.Rand) {
		if b := pick(r, m.Observed.LoadBalancers); b != nil {
			_ = remove(&m.Observed.LoadBalancers, b.ID)
		}
	}},
	{"delete a floating IP", func(m *Model, r *rand.Rand) {
		if f := pick(r, m.Observed.FloatingIPs); f != nil {
			_ = remove(&m.Observed.FloatingIPs, f.ID)
		}
	}},
	{"delete an empty placement group", func(m *Model, r *rand.Rand) {
		if g := pick(r, m.Observed.PlacementGroups); g != nil && len(g.Servers) == 0 {
			_ = remove(&m.Observed.PlacementGroups, g.ID)
		}
	}},
	{"delete the firewall", func(m *Model, r *rand.Rand) {
		if f := pick(r, m.Observed.Firewalls); f != nil {
			_ = remove(&m.Observed.Firewalls, f.ID)
		}
	}},
	{"change rules", func(m *Model, r *rand.Rand) {
		if f := pick(r, m.Observed.Firewalls); f != nil {
			f.Rules = append(f.Rules[:len(f.Rules)/2:len(f.Rules)/2], schemas.InfraRule{Direction: "in", Protocol: "tcp", Port: "22", SourceIPs: []string{"0.0.0.0/0"}})
		}
	}},
	{"apply the firewall elsewhere", func(m *Model, r *rand.Rand) {
		if f := pick(r, m.Observed.Firewalls); f != nil {
			f.Selectors = []string{"team=x"}
		}
	}},
	{"power off", server(func(s *cloud.Server) { s.Status = "off" })},
	{"detach from the network", server(func(s *cloud.Server) { s.PrivateNets = nil })},
	{"leave the placement group", server(func(s *cloud.Server) { s.PlacementGroup = 0 })},
	{"toggle protection", server(func(s *cloud.Server) { s.DeleteProtect = !s.DeleteProtect })},
	{"toggle backups", server(func(s *cloud.Server) { s.Backups = !s.Backups })},
	{"enable rescue", server(func(s *cloud.Server) { s.Rescue = true })},
	{"attach an ISO", server(func(s *cloud.Server) { s.ISO = "virtio-win.iso" })},
	{"label a server", server(func(s *cloud.Server) { s.Labels = with(s.Labels, "team", "x") })},
	{"change a role", server(func(s *cloud.Server) { s.Labels = with(s.Labels, schemas.LabelPool, "x") })},
	{"change a reverse DNS name", server(func(s *cloud.Server) {
		if s.PublicIPv4.IP != "" {
			s.PublicIPv4.DNSPtr = "drift.example.com"
		}
	})},
	{"drop a public address", server(func(s *cloud.Server) { s.PublicIPv6 = cloud.PublicIP{} })},
	{"rescale", server(func(s *cloud.Server) {
		if s.DiskSize < 160 {
			s.Type, s.DiskSize = "ccx23", min(s.DiskSize, 160)
		}
	})},
	{"remove targets", balancer(func(b *cloud.LoadBalancer) { b.Targets = nil })},
	{"add a target", balancer(func(b *cloud.LoadBalancer) { b.Targets = append(b.Targets, cloud.Target{IP: "198.51.100.1"}) })},
	{"remove a service", balancer(func(b *cloud.LoadBalancer) { b.Services = b.Services[:0] })},
	{"change a health check", balancer(func(b *cloud.LoadBalancer) {
		if len(b.Services) > 0 {
			b.Services[0].HealthCheck.Interval++
		}
	})},
	{"detach a load balancer", balancer(func(b *cloud.LoadBalancer) { b.PrivateNets, b.Targets = nil, nil })},
	{"change a load balancer", balancer(func(b *cloud.LoadBalancer) {
		b.Type, b.Algorithm, b.PublicInterface, b.Protected = "lb21", "round_robin", false, !b.Protected
	})},
	{"change the network", func(m *Model, r *rand.Rand) {
		if n := pick(r, m.Observed.Networks); n != nil {
			n.Protected, n.ExposeRoutesToVSwitch, n.Labels = !n.Protected, true, with(n.Labels, "team", "x")
		}
	}},
	{"add a subnet and a route", func(m *Model, r *rand.Rand) {
		if n := pick(r, m.Observed.Networks); n != nil {
			n.Subnets = append(n.Subnets, cloud.Subnet{Type: "cloud", IPRange: "10.0.200.0/24", NetworkZone: "eu-central"})
			n.Routes = []schemas.InfraRoute{{Destination: "192.168.0.0/16", Gateway: "10.0.200.9"}}
		}
	}},
	{"delete empty subnets", func(m *Model, r *rand.Rand) {
		if n := pick(r, m.Observed.Networks); n != nil {
			var used []cloud.Subnet
			for _, s := range n.Subnets {
				if m.used(n.ID, s.IPRange) {
					used = append(used, s)
				}
			}
			n.Subnets = used
		}
	}},
	{"change records", func(m *Model, _ *rand.Rand) {
		for i := range m.Observed.Zones {
			for j := range m.Observed.Zones[i].RRSets {
				m.Observed.Zones[i].RRSets[j].Values = []string{"198.51.100.1"}
			}
		}
	}},
	{"delete records", func(m *Model, _ *rand.Rand) {
		for i := range m.Observed.Zones {
			m.Observed.Zones[i].RRSets = nil
		}
	}},
}

// pick takes one of a list; nil if it is empty.
func pick[T any](r *rand.Rand, list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[r.IntN(len(list))]
}

func server(do func(*cloud.Server)) func(*Model, *rand.Rand) {
	return func(m *Model, r *rand.Rand) {
		if s := pick(r, m.Observed.Servers); s != nil {
			do(s)
		}
	}
}

func balancer(do func(*cloud.LoadBalancer)) func(*Model, *rand.Rand) {
	return func(m *Model, r *rand.Rand) {
		if b := pick(r, m.Observed.LoadBalancers); b != nil {
			do(b)
		}
	}
}

// with returns labels with one more.
func with(labels map[string]string, key, value string) map[string]string {
	labels = labelsOf(labels)
	labels[key] = value
	return labels
}
