package nodes

import (
	"cmp"
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/internal/sorting"
)

// readEtcd asks a control plane for its etcd. What it does not say is unknown.
func readEtcd(ctx context.Context, client *node.Client) Etcd {
	services, err := client.Services(ctx)
	if err != nil {
		return unknown(err)
	}
	i := slices.IndexFunc(services, func(s node.Service) bool { return s.Name == node.Etcd })
	switch {
	case i < 0:
		return Etcd{State: bootstrap.Unknown, Reason: "etcd has not begun there"}
	case services[i].State == node.EtcdRunning:
		return readMember(ctx, client, services[i])
	}
	idle := ""
	if services[i].State != node.EtcdPreparing {
		idle = "its etcd is " + services[i].State
	}
	// The service pulls its image first: only then the data says something. It
	// waits to be bootstrapped, or to join, exactly if there is none.
	data, err := client.EtcdData(ctx)
	switch {
	case data:
		return Etcd{State: bootstrap.Data, Reason: idle}
	case idle != "": // before /var is mounted the data cannot be read either
		return Etcd{State: bootstrap.Unknown, Reason: idle}
	case err != nil:
		return unknown(err)
	}
	return Etcd{State: bootstrap.Empty}
}

// readMember asks a member that runs. Without a quorum it does not answer.
func readMember(ctx context.Context, client *node.Client, service node.Service) Etcd {
	silent := Etcd{State: bootstrap.Data, Reason: cmp.Or(service.Message, "it does not answer")}
	status, err := client.EtcdStatus(ctx)
	if err != nil {
		return silent
	}
	members, err := client.Members(ctx)
	if err != nil {
		return silent
	}
	return Etcd{State: bootstrap.Serving, Self: status.Member, Leader: status.Leader, Members: members}
}

func unknown(err error) Etcd { return Etcd{State: bootstrap.Unknown, Reason: problem(err)} }

// serving are the sights of control planes whose etcd serves.
func serving(states []NodeState) (found []NodeState) {
	for _, s := range states {
		if s.Machine.controlPlane() && s.Etcd.State == bootstrap.Serving {
			found = append(found, s)
		}
	}
	return found
}

// clusters names the etcd cluster of each control plane that serves, by its
// machine's name: those who know a member in common are of one. The name is the
// smallest id of a member.
func clusters(states []NodeState) map[string]string {
	of := map[string]string{}
	left := serving(states)
	for len(left) > 0 {
		ids := map[node.MemberID]bool{}
		var group []NodeState
		for grown := true; grown; {
			grown = false
			left = slices.DeleteFunc(left, func(s NodeState) bool {
				if len(group) > 0 && !slices.ContainsFunc(s.Etcd.Members, func(m node.Member) bool { return ids[m.ID] }) {
					return false
				}
				group, grown = append(group, s), true
				for _, m := range s.Etcd.Members {
					ids[m.ID] = true
				}
				return true
			})
		}
		name := node.MemberID(0)
		for id := range ids {
			if name == 0 || id < name {
				name = id
			}
		}
		for _, s := range group {
			of[s.Machine.Name] = name.String()
		}
	}
	return of
}

// members are those of etcd as a majority of those who serve says. Known says
// that this can be told: none are known to be there if every control plane has
// proved that it has none, or has no configuration yet.
func members(states []NodeState) (found []nodeplan.Member, known bool) {
	voters := serving(states)
	if len(voters) == 0 {
		return nil, !slices.ContainsFunc(states, func(s NodeState) bool {
			return s.Machine.controlPlane() && !s.Reach.Bare() && s.Etcd.State != bootstrap.Empty
		})
	}
	of := clusters(states)
	if slices.ContainsFunc(voters, func(s NodeState) bool { return of[s.Machine.Name] != of[voters[0].Machine.Name] }) {
		return nil, false // two clusters
	}
	list := majority(voters)
	for _, m := range list {
		name, healthy := owner(m, states, voters)
		found = append(found, nodeplan.Member{ID: m.ID.String(), Node: name, Learner: m.Learner, Healthy: healthy})
	}
	sorting.By(found, func(a, b nodeplan.Member) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID)) })
	return found, list != nil
}

// majority is the list that more than half of those who were asked agree on;
// nil if there is none.
func majority(asked []NodeState) []node.Member {
	for _, s := range asked {
		agree := 0
		for _, o := range asked {
			if same(s.Etcd.Members, o.Etcd.Members) {
				agree++
			}
		}
		if 2*agree > len(asked) {
			return s.Etcd.Members
		}
	}
	return nil
}

func same(a, b []node.Member) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(m node.Member) bool {
		return !slices.ContainsFunc(b, func(o node.Member) bool { return m.ID == o.ID && m.Learner == o.Learner })
	})
}

// owner is the node of a member, and whether it serves: it says so itself, or
// its peers follow it.
func owner(m node.Member, states, asked []NodeState) (name string, healthy bool) {
	for _, s := range asked {
		if s.Etcd.Self == m.ID {
			return s.Machine.Name, true
		}
	}
	healthy = slices.ContainsFunc(asked, func(s NodeState) bool { return s.Etcd.Leader == m.ID })
	for _, s := range states {
		if s.Machine.controlPlane() && s.Machine.Name == m.Hostname {
			return s.Machine.Name, healthy
		}
	}
	return cmp.Or(m.Hostname, "member "+m.ID.String()), healthy
}
