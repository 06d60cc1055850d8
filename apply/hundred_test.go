package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// hundred is a project with a cluster of a hundred nodes that is as the tree says.
func hundred(s *site) *site {
	s.Helper()
	names := []string{"cp-1", "cp-2", "cp-3"}
	for i := range 97 {
		names = append(names, fmt.Sprintf("worker-%d", i+1))
	}
	s.tree(names...)
	s.mustApply(Policy{})
	s.sim.ResetCalls()
	s.fleet.ResetCalls()
	return s
}

// reads are the calls that a look at a node consists of: its stage, its
// configuration and its boot; of a control plane besides its version, and what it
// knows of etcd.
var reads = map[bool][]string{
	false: {"Get", "Get", "Read"},
	true:  {"EtcdMemberList", "EtcdStatus", "Get", "Get", "Read", "ServiceList", "Version"},
}

// TestHundredNodes: with nothing to do, an apply as a whole looks at each of a
// hundred nodes once, asks one of them for the nodes of Kubernetes, needs two
// dozen requests to Hetzner, and changes nothing but who is let in meanwhile.
func TestHundredNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := hundred(newSite(t))
		p, r := s.mustApply(Policy{})
		if !p.Empty() || len(r.Done)+len(r.Steps) > 0 {
			t.Fatalf("there is something to do:\n%s", p)
		}
		calls, kubernetes := map[string][]string{}, 0
		for _, c := range s.fleet.Calls() {
			if strings.HasPrefix(c.Method, "GET /") {
				kubernetes++
				continue
			}
			calls[c.Machine] = append(calls[c.Machine], c.Method)
		}
		for name, methods := range calls {
			slices.Sort(methods)
			if want := reads[strings.HasPrefix(name, "cp-")]; !slices.Equal(methods, want) {
				t.Errorf("%s was asked for %v, want %v", name, methods, want)
			}
		}
		if len(calls) != 100 || kubernetes != 1 {
			t.Errorf("%d nodes were looked at, Kubernetes was asked %d times", len(calls), kubernetes)
		}
		requests := map[string]int{}
		for _, c := range s.sim.Calls() {
			requests[c.Method]++
		}
		// Who runs this is let in by a firewall, and it is taken off and removed.
		if requests["GET"] > 25 || requests["POST"] != 2 || requests["DELETE"] != 1 || len(requests) != 3 {
			t.Errorf("requests to Hetzner: %v", requests)
		}
	})
}

// BenchmarkNothingToDo says how long an apply takes that finds nothing to do on a
// hundred nodes, with the nodes' side and Hetzner's side of all connections.
func BenchmarkNothingToDo(b *testing.B) {
	s := hundred(newSiteAt(b, nil))
	for b.Loop() {
		session := s.session()
		p, err := session.Plan(context.Background(), Policy{})
		if err != nil || !p.Empty() {
			b.Fatal(p, err)
		}
		if _, err := session.Apply(context.Background(), p, Policy{}, s.owner()); err != nil {
			b.Fatal(err)
		}
		if err := session.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
