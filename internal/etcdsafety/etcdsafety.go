// Package etcdsafety holds the two rules that nothing that talosgen does to nodes
// may break: there are never two etcd clusters, and no step that was chosen
// puts the quorum of etcd at risk. Plans ask it before; simulators and tests
// check with it after each step.
package etcdsafety

import (
	"fmt"
	"maps"
	"slices"
)

// Member is one etcd member, or the data that one has left on a node.
type Member struct {
	Node string
	// The id of the etcd cluster that it belongs to.
	Cluster string
	// Whether it votes; one that still learns does not.
	Voter bool
	// Whether it serves, and the node is reached.
	Healthy bool
}

// Quorum is how many of some voters must agree.
func Quorum(voters int) int { return voters/2 + 1 }

// Count counts voters, and those that are healthy.
func Count(members []Member) (voters, healthy int) {
	for _, m := range members {
		if m.Voter {
			voters++
			if m.Healthy {
				healthy++
			}
		}
	}
	return voters, healthy
}

// CanStop says why a member must not stop for a while; empty if it may: the others
// have a quorum without it. Whether it is healthy itself does not count: one of
// which nobody knows that may be what the quorum hangs on. In a cluster of one or
// two, which never survives that, it may if all is well: it comes back with its
// data.
func CanStop(members []Member, node string) string {
	voters, healthy := Count(members)
	m, ok := find(members, node)
	if !ok || !m.Voter || voters <= 2 && healthy == voters {
		return ""
	}
	if m.Healthy {
		healthy--
	}
	if healthy >= Quorum(voters) {
		return ""
	}
	return fmt.Sprintf("etcd would have %d of %d healthy members, and needs %d", healthy, voters, Quorum(voters))
}

// CanRemove says why a member must not be removed for good; empty if it may.
func CanRemove(members []Member, node string) string {
	voters, healthy := Count(members)
	m, ok := find(members, node)
	if !ok {
		return ""
	}
	if m.Voter && voters == 1 {
		return "it is the last member of etcd"
	}
	if healthy < Quorum(voters) {
		return fmt.Sprintf("etcd has %d of %d healthy members, and cannot agree to it: that needs %d", healthy, voters, Quorum(voters))
	}
	if m.Voter {
		voters--
		if m.Healthy {
			healthy--
		}
	}
	if healthy < Quorum(voters) {
		return fmt.Sprintf("etcd would have %d of %d healthy members, and needs %d", healthy, voters, Quorum(voters))
	}
	return ""
}

// Without returns the members that stay.
func Without(members []Member, node string) []Member {
	return slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Node == node })
}

func find(members []Member, node string) (Member, bool) {
	i := slices.IndexFunc(members, func(m Member) bool { return m.Node == node })
	if i < 0 {
		return Member{}, false
	}
	return members[i], true
}

// Check returns what is wrong with the state after a step. Chosen says that
// talosgen took the step; what befalls nodes by itself may cost a quorum.
func Check(before, after []Member, chosen bool) (violations []string) {
	old, now := clusters(before), clusters(after)
	if len(now) > 1 {
		violations = append(violations, fmt.Sprintf("there are two etcd clusters: %v", slices.Sorted(maps.Keys(now))))
	}
	if !chosen {
		return violations
	}
	for _, id := range slices.Sorted(maps.Keys(old)) {
		voters, healthy := Count(old[id])
		votersNow, healthyNow := Count(now[id])
		switch {
		case voters > 0 && votersNow == 0:
			violations = append(violations, fmt.Sprintf("the last member of the etcd cluster %s was removed", id))
		case healthy < Quorum(voters), voters <= 2 && votersNow == voters:
		case healthyNow < Quorum(votersNow):
			violations = append(violations, fmt.Sprintf("the etcd cluster %s has lost its quorum: %d of %d members are healthy", id, healthyNow, votersNow))
		}
	}
	return violations
}

func clusters(members []Member) map[string][]Member {
	by := map[string][]Member{}
	for _, m := range members {
		by[m.Cluster] = append(by[m.Cluster], m)
	}
	return by
}
