package nodes

import (
	"context"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// controlPlanes are the control planes of a cluster, and what they say of etcd.
type controlPlanes struct{ *Cluster }

// etcdSteps are the steps by which members of etcd come and go.
type etcdSteps struct{ controlPlanes }

// states looks at the etcd of every control plane.
func (p controlPlanes) states(ctx context.Context) ([]NodeState, error) {
	states, err := p.observeAll(ctx, p.machines(), observeLong, p.probeEtcd)
	if err != nil {
		return nil, err
	}
	_, err = p.newcomers().meet(ctx, states)
	return states, err
}

func (p controlPlanes) machines() (found []Machine) {
	for _, m := range p.Machines {
		if m.controlPlane() {
			found = append(found, m)
		}
	}
	return found
}

// join waits until a new control plane votes in etcd, and serves.
func (e etcdSteps) join(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, notify func(string)) error {
	patience := e.Patience.of(e.Patience.Join)
	return e.wait(ctx, patience, "node "+s.Node, "a voting member of etcd", notify, func(ctx context.Context) error {
		states, err := e.states(ctx)
		if err != nil {
			return err
		}
		list, known := members(states)
		i := slices.IndexFunc(list, func(m nodeplan.Member) bool { return m.Node == s.Node })
		switch {
		case !known:
			return node.NotYet("the state of etcd is unknown")
		case i < 0:
			return node.NotYet("it is not a member yet")
		case list[i].Learner:
			return node.NotYet("it still learns")
		case !list[i].Healthy:
			return node.NotYet("its etcd does not answer")
		}
		return nil
	})
}

// snapshot saves etcd before a member goes.
func (e etcdSteps) snapshot(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, notify func(string)) error {
	return e.AskEtcd(ctx, func(client *node.Client) error {
		where, err := e.Snapshot(ctx, client)
		if err == nil {
			notify("etcd is saved in " + where)
		}
		return err
	})
}

// AskEtcd connects to a control plane whose etcd serves.
func (c *Cluster) AskEtcd(ctx context.Context, do func(*node.Client) error) error {
	return controlPlanes{c}.peer(ctx, "", do)
}

// peer connects to a control plane whose etcd serves; except is not asked.
func (p controlPlanes) peer(ctx context.Context, except string, do func(*node.Client) error) error {
	states, err := p.states(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(states, func(s NodeState) bool { return s.Machine.Name != except && s.Etcd.State == bootstrap.Serving })
	if i < 0 {
		return diag.On("etcd", "there is no member that could be asked").WithCode(diag.Remote).
			WithHint("bring a control plane back first")
	}
	return p.with(states[i].Machine.Name, do)
}

// transferLeadership lets another member lead.
func (e etcdSteps) transferLeadership(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, _ func(string)) error {
	return e.with(s.Node, func(client *node.Client) error { return client.TransferLeadership(ctx) })
}

// leave takes a living control plane out of etcd. Whether that worked, the next
// step sees.
func (e etcdSteps) leave(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, notify func(string)) error {
	if err := e.guard().spared(ctx, s.Node, etcdsafety.CanRemove, notify, nil); err != nil {
		return err
	}
	return e.with(s.Node, func(client *node.Client) error { return client.Leave(ctx) })
}

// removeMember takes a dead control plane out of etcd, by the id that the plan
// has. Its peers must not follow it meanwhile.
func (e etcdSteps) removeMember(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, _ func(string)) error {
	id, err := strconv.ParseUint(s.Member, 16, 64)
	if err != nil {
		return diag.On(string(s.Key), "%q is no id of a member", s.Member).WithCode(diag.Remote)
	}
	return e.peer(ctx, s.Node, func(client *node.Client) error {
		list, err := client.Members(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(m node.Member) bool { return m.ID == node.MemberID(id) }) {
			return nil
		}
		return client.RemoveMember(ctx, node.MemberID(id))
	})
}

// verify makes sure that a control plane is no member of etcd any more, by the
// list of another one.
func (e etcdSteps) verify(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, notify func(string)) error {
	patience := e.Patience.of(e.Patience.Leave)
	return e.wait(ctx, patience, "node "+s.Node, "out of etcd", notify, func(ctx context.Context) error {
		return e.peer(ctx, s.Node, func(client *node.Client) error {
			list, err := client.Members(ctx)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(list, func(m node.Member) bool { return m.Hostname == s.Node }) {
				return node.NotYet("it is still a member")
			}
			return nil
		})
	})
}
