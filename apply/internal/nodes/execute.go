package nodes

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
)

// Executor returns what takes the steps of a plan. A step returns when it is
// complete: what was configured serves, what was rebooted runs again.
func (c *Cluster) Executor(p *nodeplan.Plan) func(context.Context, nodeplan.Step) error {
	return func(ctx context.Context, s nodeplan.Step) error {
		if err := c.keep(ctx); err != nil {
			return err
		}
		do, ok := c.actions()[s.Action]
		if !ok {
			return diag.On(string(s.Key), "there is no way to do that").WithCode(diag.Remote)
		}
		name := Name(s)
		err := do(ctx, p, s, func(text string) {
			c.notify(name, text)
		})
		if err != nil && ctx.Err() != nil {
			return execute.Interrupted(ctx)
		}
		return err
	}
}

// Loop goes from a plan that somebody agreed to, to one with nothing left to do.
// again looks and plans.
func (c *Cluster) Loop(agreed *nodeplan.Plan, again func(context.Context) (*nodeplan.Plan, error)) execute.Loop[*nodeplan.Plan, nodeplan.Step] {
	var mu sync.Mutex
	staged := map[string]bool{}
	return execute.Loop[*nodeplan.Plan, nodeplan.Step]{
		Check: agreed.Check, Text: (*nodeplan.Plan).Text, Stale: Stale, Sleep: c.Clock.Sleep,
		Steps: func(p *nodeplan.Plan) []nodeplan.Step { return p.Steps },
		Executor: func(p *nodeplan.Plan) execute.Do[nodeplan.Step] {
			do := c.Executor(p)
			return func(ctx context.Context, s nodeplan.Step) error {
				err := do(ctx, s)
				if err == nil && s.Action == nodeplan.Stage {
					mu.Lock()
					defer mu.Unlock()
					staged[s.Node] = true
				}
				return err
			}
		},
		Again: func(ctx context.Context) (*nodeplan.Plan, error) {
			p, err := again(ctx)
			if err != nil {
				return nil, err
			}
			// What waits for the next boot, a node does not tell.
			return p.WithoutStaged(func(node string) bool { return staged[node] }), nil
		},
	}
}

// Name is what a step is called in progress and reports: reboot prod-worker-1.
func Name(s nodeplan.Step) string { return fmt.Sprintf("%s %s", s.Action.Text(), s.Node) }

// action takes a step. tell is told what is waited for.
type action func(ctx context.Context, p *nodeplan.Plan, s nodeplan.Step, notify func(string)) error

// actions are the ways to take steps.
func (c *Cluster) actions() map[nodeplan.Action]action {
	found := controlPlanes{c}
	etcd, config, in := etcdSteps{found}, configSteps{c}, kubeSteps{kubernetes: c.Kubernetes, watch: c.Health}
	bootstrap := bootstrapper{found, &c.making}.step
	return map[nodeplan.Action]action{
		nodeplan.Configure:          config.configure,
		nodeplan.Stage:              config.stage,
		nodeplan.Reboot:             config.reboot,
		nodeplan.Reset:              config.reset,
		nodeplan.Bootstrap:          bootstrap,
		nodeplan.Record:             bootstrap,
		nodeplan.Health:             in.health,
		nodeplan.Drain:              in.drain,
		nodeplan.Uncordon:           in.uncordon,
		nodeplan.DeleteNode:         in.deleteNode,
		nodeplan.RewriteSecrets:     in.rewriteSecrets,
		nodeplan.Join:               etcd.join,
		nodeplan.Snapshot:           etcd.snapshot,
		nodeplan.TransferLeadership: etcd.transferLeadership,
		nodeplan.Leave:              etcd.leave,
		nodeplan.RemoveMember:       etcd.removeMember,
		nodeplan.Verify:             etcd.verify,
	}
}

// Stale reports whether a new look and a new plan are the answer to an error:
// the node was away, busy, or its answer was lost.
func Stale(err error) bool { return node.Transient(err) && diag.CodeOf(err) != diag.NotReady }

// kubeSteps are the steps that concern nodes in Kubernetes, and the cluster as a
// whole.
type kubeSteps struct {
	kubernetes Kubernetes
	watch      Health // may be nil
}

// health waits until the cluster is healthy: before anything is disturbed, or after
// a node was.
func (k kubeSteps) health(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, _ func(string)) error {
	switch {
	case k.watch == nil:
		return nil
	case s.Node == nodeplan.WholeCluster:
		return k.watch.Before(ctx)
	}
	return k.watch.After(ctx, s.Node)
}

func (k kubeSteps) drain(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, notify func(string)) error {
	return k.kubernetes.Drain(ctx, s.Node, s.ForGood, notify)
}

func (k kubeSteps) uncordon(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, _ func(string)) error {
	return k.kubernetes.Uncordon(ctx, s.Node)
}

func (k kubeSteps) deleteNode(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, _ func(string)) error {
	return k.kubernetes.DeleteNode(ctx, s.Node)
}

func (k kubeSteps) rewriteSecrets(ctx context.Context, _ *nodeplan.Plan, _ nodeplan.Step, notify func(string)) error {
	return k.kubernetes.RewriteSecrets(ctx, notify)
}

// with connects to the node of a step.
func (c *Cluster) with(name string, do func(*node.Client) error) error {
	m, ok := c.machine(name)
	if !ok {
		return diag.On("node "+name, "its address is unknown").WithCode(diag.Remote)
	}
	client, err := c.Connect(m)
	if err != nil {
		return err
	}
	return do(client)
}

// wait makes a check until it succeeds, and keeps the lock meanwhile. It ends if
// the way to the nodes is closed for good.
func (c *Cluster) wait(ctx context.Context, p node.Patience, object, what string, notify func(string), check func(context.Context) error) error {
	notified := ""
	var lost error
	err := node.WaitFor(ctx, c.Clock, p, object, what, func(ctx context.Context) error {
		if lost = c.keep(ctx); lost != nil {
			return nil
		}
		err := check(ctx)
		if err != nil {
			if _, lost = c.open(ctx); lost != nil {
				return nil
			}
			if text := waitsFor(object, what, err); text != notified && ctx.Err() == nil {
				notify(text)
				notified = text
			}
		}
		return err
	})
	if lost != nil {
		return lost
	}
	return err
}

// waitsFor says what somebody waits for, and how it is so far. That a node that
// boots does not answer is no mistake, and is not told like one.
func waitsFor(object, what string, err error) string {
	far := problem(err)
	if node.Silent(err) {
		far = "does not answer yet"
		var p *diag.Problem
		if errors.As(err, &p) && p.Object != object {
			far = p.Object + " " + far
		} else {
			far = "it " + far
		}
	}
	return "waits until it is " + what + ": " + far
}
