package apply

import (
	"cmp"
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/internal/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/summary"
)

// verifier looks at a cluster after its changes were made, as [Session.Health] and
// [Cluster.Status] do. What it finds is told, and is no error: every change was
// made, and what takes its time may take it.
type verifier struct {
	env     *Environment
	connect *connector
	kube    *kubeReach
	objects *treeObjects
	log     *runLog
	same    SameTree
}

// execute looks, if the run did something.
func (v verifier) execute(ctx context.Context, r *run) error {
	left := r.report.Left
	nodes, kubernetes := left.Nodes != nil, left.Kubernetes != nil && left.Kubernetes.API
	if !r.report.did() || !nodes && !kubernetes {
		return nil
	}
	found := &r.report.verified
	found.unseen = map[string]error{}
	return v.log.stage("verify", 0, func(progress.Stage) error {
		if nodes {
			found.unseen[summary.Health] = v.health(ctx, left, found)
		}
		if kubernetes {
			found.unseen[summary.Status] = v.status(ctx, left, found)
		}
		return ctx.Err()
	})
}

func (v verifier) health(ctx context.Context, left *Plan, found *verified) error {
	c, err := v.connect.at(ctx, left.Observed, nil)
	if err != nil {
		return err
	}
	report := checked(ctx, c)
	found.health = &report
	return nil
}

func (v verifier) status(ctx context.Context, left *Plan, found *verified) error {
	desired, err := v.objects.desired(ctx)
	if err != nil {
		return err
	}
	return v.kube.with(ctx, left.Observed, func(client *kube.Client) error {
		c := Cluster{env: v.env, client: client, desired: desired, clock: v.log.clock}
		status, err := c.Status(ctx, v.same)
		if err == nil {
			found.status = status
		}
		return err
	})
}

// nodeObject names a node, if there is one.
func nodeObject(name string) string {
	if name == "" {
		return ""
	}
	return "node " + name
}

// alwaysSame takes every tree for the same: whoever asks cannot compare them.
func alwaysSame(context.Context, string) (bool, error) { return true, nil }

// pending is what is not as it should be. What is known of nodes that are away, and
// of an upgrade, is said already.
func (v verified) pending(unreachable []string, upgrade *nodeplan.Upgrade, add func(kind, object, text, hint string)) {
	for _, what := range []string{summary.Health, summary.Status} {
		if err := v.unseen[what]; err != nil {
			add(what, "", "the "+what+" of the cluster could not be looked at: "+oneLine(err), "")
		}
	}
	if v.health != nil {
		for _, f := range v.health.Failures() {
			inStatus := v.status != nil && slices.Contains([]string{health.Registered, health.Ready}, f.Check)
			if !inStatus && !slices.Contains(unreachable, f.Node) {
				add(summary.Health, nodeObject(f.Node), f.Check+": "+cmp.Or(f.Text, "not well"), "")
			}
		}
	}
	if v.status != nil {
		for _, d := range v.status.beside(upgrade) {
			add(summary.Status, "", d, "")
		}
	}
}
