package apply

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/lineage"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/schemas"
)

// clusterRecord keeps which tree was applied to machines that exist already in the
// cluster's own Kubernetes, beside what talosgen made there. A cluster that was
// never bootstrapped has neither.
type clusterRecord struct {
	presentTree
	kube     *kubeReach
	lock     *locker
	log      *runLog
	recorded bool
}

// judge asks once it is known which nodes there are.
func (r *clusterRecord) judge(ctx context.Context, after Stage, p *Plan) (refused bool, err error) {
	if after != stageNodes || !r.kube.serves() || !r.kube.mayServe(p) {
		return false, nil
	}
	idle := p.Nodes == nil || len(p.Nodes.Steps) == 0
	if p.Nodes != nil && !r.kube.usable(p) {
		if idle {
			return false, nil // nothing is changed, with nobody to ask
		}
		return r.note(p.Plan, lineage.Unread(r.tree(), "no control plane can be used, and they keep it", p.older)), nil
	}
	patience := kubernetesPatience
	if idle {
		patience = leasePatience
	}
	v, err := r.ask(ctx, patience, p.older)
	return r.note(p.Plan, v), err
}

// verdict asks the API.
func (r *clusterRecord) verdict(ctx context.Context) (lineage.Verdict, error) {
	return r.ask(ctx, leasePatience, false)
}

// ask asks the API which tree was applied last, and compares. That it does not say
// so does not mean that none was.
func (r *clusterRecord) ask(ctx context.Context, patience time.Duration, agreed bool) (v lineage.Verdict, err error) {
	if !r.kube.serves() {
		return v, nil
	}
	err = r.kube.withNotes(ctx, patience, func(_ *kube.Client, notes map[string]string) error {
		v, err = r.compare(ctx, treeOf(notes), agreed)
		return err
	})
	var unread notesError
	if errors.As(err, &unread) && ctx.Err() == nil {
		return lineage.Unread(r.tree(), "the Kubernetes API, which keeps it, does not say: "+oneLine(unread.error), agreed), nil
	}
	return v, err
}

// begin records the tree, if the lock is there.
func (r *clusterRecord) begin(ctx context.Context, _ cloudplan.Observed, agreed bool) error {
	return r.serving(ctx, agreed)
}

// serving records the tree, once, as soon as the lock is there.
func (r *clusterRecord) serving(ctx context.Context, agreed bool) error {
	if !r.kube.serves() || r.recorded || r.lock.held.lock == nil {
		return nil
	}
	err := r.kube.withNotes(ctx, kubernetesPatience, func(client *kube.Client, notes map[string]string) error {
		v, err := r.compare(ctx, treeOf(notes), agreed)
		switch {
		case err != nil:
			return err
		case v.State == lineage.Refuse:
			return r.overtaken(v)
		}
		next := map[string]string{noteCommit: notes[noteCommit]}
		for label, value := range r.notes() {
			next[strings.TrimPrefix(label, schemas.LabelPrefix)] = value
		}
		if !differ(notes, next) {
			return nil
		}
		return client.WriteNotes(ctx, next)
	})
	r.recorded = err == nil
	return err
}

// end records the tree of a cluster whose Kubernetes was not there before the run,
// or not well. Until somebody can, nobody knows.
func (r *clusterRecord) end(ctx context.Context, p *Plan) error {
	if !r.kube.serves() || r.recorded || p.Destroy || p.Nodes == nil {
		return nil
	}
	return r.log.stage("record", 0, func(stage progress.Stage) error {
		err := r.kube.withNotes(ctx, kubernetesPatience, func(*kube.Client, map[string]string) error { return nil })
		var unread notesError
		if errors.As(err, &unread) && ctx.Err() == nil {
			stage.Step("tree", progress.Note, "which tree is applied is not recorded: "+oneLine(unread.error))
			return nil
		}
		if err == nil {
			err = r.lock.acquire(ctx, stage)
		}
		if err != nil {
			return err
		}
		return r.serving(ctx, p.older)
	})
}

// notesError is that the notes in Kubernetes cannot be read.
type notesError struct{ error }

// withNotes reads the notes in Kubernetes of machines that exist already, and does
// something with them.
func (k *kubeReach) withNotes(ctx context.Context, patience time.Duration, do func(*kube.Client, map[string]string) error) error {
	api, err := k.static()
	if err != nil {
		return err
	}
	client, err := api.clientWith(ctx, patience)
	if err != nil {
		return err
	}
	defer client.Close()
	notes, err := client.Notes(ctx)
	if err != nil {
		return notesError{err}
	}
	return do(client, notes)
}
