package nodes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// fresh is how long a look at etcd may have taken on which somebody relies who
// disturbs it.
const fresh = 30 * time.Second

// etcdGuard lets nobody disturb a control plane that etcd cannot do without.
type etcdGuard struct{ controlPlanes }

func (c *Cluster) guard() etcdGuard { return etcdGuard{controlPlanes{c}} }

// FreeToStop waits until etcd can be without a node for a while, by a look right
// now; tell is told what it waits for.
func (c *Cluster) FreeToStop(ctx context.Context, name string, notify func(string)) error {
	return c.guard().spared(ctx, name, etcdsafety.CanStop, notify, nil)
}

// spared waits until etcd can be without a control plane, and is to be asked right
// before that is disturbed: since the check of the cluster's health its pods have
// left, which may take long, and another member may have died meanwhile. may is
// the rule. ready is done after the look, and what it takes counts too; its error
// ends the wait; nil for nothing. For a worker there is nothing to look at.
//
// What happens after that, no look can see: etcd itself has no call that stops a
// member only if the others live.
func (g etcdGuard) spared(ctx context.Context, name string, may func([]etcdsafety.Member, string) string, notify func(string), ready func(context.Context) error) error {
	patience := g.Patience.of(g.Patience.Etcd)
	var failed error
	err := g.wait(ctx, patience, "node "+name, "free to be disturbed", notify, func(ctx context.Context) error {
		begin := g.Clock.Now()
		if err := g.missed(ctx, name, may); err != nil {
			return err
		}
		if ready != nil {
			if failed = ready(ctx); failed != nil {
				return nil
			}
		}
		if took := g.Clock.Now().Sub(begin); took > fresh {
			return node.NotYet("the look at etcd took %v, which is too long", took)
		}
		return nil
	})
	return cmp.Or(failed, err)
}

// missed says why etcd cannot be without a control plane; see [node.NotYet].
func (g etcdGuard) missed(ctx context.Context, name string, may func([]etcdsafety.Member, string) string) error {
	if m, ok := g.machine(name); !ok || !m.controlPlane() {
		return nil
	}
	states, err := g.observeAll(ctx, g.machines(), observeLong, g.probeMember)
	if err != nil {
		return err
	}
	o := observed(states)
	if !o.Known {
		return node.NotYet("the state of etcd is unknown")
	}
	if reason := may(o.Safe(), name); reason != "" {
		return node.NotYet("%s", reason)
	}
	return nil
}

// probeMember reads what a control plane says of its etcd, and nothing else.
func (g etcdGuard) probeMember(ctx context.Context, m Machine) NodeState {
	return g.probe(ctx, m, func(client *node.Client, s *NodeState) error {
		s.Etcd = readEtcd(ctx, client)
		return nil
	})
}

// restarts reports whether a step makes a part of the control plane start anew.
func restarts(s nodeplan.Step) bool {
	return slices.ContainsFunc(s.Changes, func(c nodeconfig.Change) bool { return c.Class == nodeconfig.Restart })
}
