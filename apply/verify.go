package apply

import (
	"cmp"
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/internal/summary"
)

// verified is what the last look at a cluster found, after all was done.
type verified struct {
	health *health.Report // nil: nobody looked
	status *Status        // the same
	// What could not be looked at, and why.
	unseen map[string]error
}

// verify looks at a cluster after its changes were made, as [Session.Health] and
// [Cluster.Status] do. What it finds is told, and is no error: every change was
// made, and what takes its time may take it.
func (s *Session) verify(ctx context.Context, r *Report) error {
	nodes, kubernetes := r.Left.Nodes != nil, r.Left.Kubernetes != nil && r.Left.Kubernetes.API
	if !r.did() || !nodes && !kubernetes {
		return nil
	}
	r.verified.unseen = map[string]error{}
	return s.stage("verify", 0, func(progress.Stage) error {
		if nodes {
			r.verified.unseen[summary.Health] = s.verifyHealth(ctx, r)
		}
		if kubernetes {
			r.verified.unseen[summary.Status] = s.verifyStatus(ctx, r)
		}
		return ctx.Err()
	})
}

func (s *Session) verifyHealth(ctx context.Context, r *Report) error {
	c, err := s.cluster(ctx, r.Left.Observed, nil)
	if err != nil {
		return err
	}
	report := checked(ctx, c)
	r.verified.health = &report
	return nil
}

func (s *Session) verifyStatus(ctx context.Context, r *Report) error {
	desired, err := s.kubernetesDesired(ctx)
	if err != nil {
		return err
	}
	return s.withAPI(ctx, r.Left.Observed, func(client *kube.Client) (err error) {
		c := Cluster{env: s.env, client: client, desired: desired, clock: s.clock}
		r.verified.status, err = c.Status(ctx, s.same)
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

// pending is what is not as it should be. What is known of nodes that are away is
// said already.
func (v verified) pending(away []string, add func(kind, object, text, hint string)) {
	for _, what := range []string{summary.Health, summary.Status} {
		if err := v.unseen[what]; err != nil {
			add(what, "", "the "+what+" of the cluster could not be looked at: "+oneLine(err), "")
		}
	}
	if v.health != nil {
		for _, f := range v.health.Failures() {
			inStatus := v.status != nil && slices.Contains([]string{health.Registered, health.Ready}, f.Check)
			if !inStatus && !slices.Contains(away, f.Node) {
				add(summary.Health, nodeObject(f.Node), f.Check+": "+cmp.Or(f.Text, "not well"), "")
			}
		}
	}
	if v.status != nil {
		for _, d := range v.status.Differences {
			add(summary.Status, "", d, "")
		}
	}
}
