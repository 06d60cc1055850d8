package apply

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/progress"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/lineage"
	"github.com/talosgen/talosgen/schemas"
)

// Of machines that exist already, the cluster's own Kubernetes keeps which tree was
// applied last, beside what talosgen made there. A cluster that was never
// bootstrapped has neither.

// keepsTree reports whether the cluster of machines that exist already keeps which
// tree was applied.
func (s *Session) keepsTree() bool {
	return s.history != nil && s.project == nil && s.nodes.Dial != nil && !s.withoutKubernetes()
}

// withLineageOfMachines adds to a plan what there is to say about the age of the
// tree, for machines that exist already. It reports whether that is refused.
func (s *Session) withLineageOfMachines(ctx context.Context, p *Plan) (refused bool, err error) {
	if !s.keepsTree() || !s.mayHaveAPI(p) {
		return false, nil
	}
	idle := p.Nodes != nil && len(p.Nodes.Steps) == 0
	if p.Nodes != nil && !s.somePlane(p) {
		if idle {
			return false, nil // nothing is changed, with nobody to ask
		}
		return s.noteVerdict(p.Plan, lineage.Unread(s.tree(), "no control plane can be used, and they keep it", p.older)), nil
	}
	patience := kubernetesPatience
	if idle {
		patience = leasePatience
	}
	v, err := s.verdictOfMachines(ctx, patience, p.older)
	return s.noteVerdict(p.Plan, v), err
}

// verdictOfMachines asks the API which tree was applied last, and compares. That it
// does not say so does not mean that none was.
func (s *Session) verdictOfMachines(ctx context.Context, patience time.Duration, agreed bool) (v lineage.Verdict, err error) {
	if !s.keepsTree() {
		return v, nil
	}
	err = s.withNotes(ctx, patience, func(_ *kube.Client, notes map[string]string) error {
		v, err = s.compareTrees(ctx, treeOf(notes), agreed)
		return err
	})
	var unread notesError
	if errors.As(err, &unread) && ctx.Err() == nil {
		return lineage.Unread(s.tree(), "the Kubernetes API, which keeps it, does not say: "+oneLine(unread.error), agreed), nil
	}
	return v, err
}

// notesError is that the notes in Kubernetes cannot be read.
type notesError struct{ error }

// withNotes reads the notes in Kubernetes, and does something with them.
func (s *Session) withNotes(ctx context.Context, patience time.Duration, do func(*kube.Client, map[string]string) error) error {
	through, err := s.transport(cloudplan.Observed{})
	if err != nil {
		return err
	}
	api := controlPlaneAPI{session: s, through: through, planes: s.planes(cloudplan.Observed{}, nil)}
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

// recordOfMachines records the tree in Kubernetes before the first change, once, as
// soon as the lock is there. What somebody else has applied since the plan was made
// may be newer.
func (s *Session) recordOfMachines(ctx context.Context, agreed bool) error {
	if !s.keepsTree() || s.recorded || s.lock == nil {
		return nil
	}
	err := s.withNotes(ctx, kubernetesPatience, func(client *kube.Client, notes map[string]string) error {
		v, err := s.compareTrees(ctx, treeOf(notes), agreed)
		switch {
		case err != nil:
			return err
		case v.State == lineage.Refuse:
			return s.overtaken(v)
		}
		next := map[string]string{noteCommit: notes[noteCommit]}
		for label, value := range s.treeNotes() {
			next[strings.TrimPrefix(label, schemas.LabelPrefix)] = value
		}
		if !differ(notes, next) {
			return nil
		}
		return client.WriteNotes(ctx, next)
	})
	s.recorded = err == nil
	return err
}

// recordLate records the tree of a cluster whose Kubernetes was not there before the
// run, or not well. Until somebody can, nobody knows.
func (s *Session) recordLate(ctx context.Context, p *Plan) error {
	if !s.keepsTree() || s.recorded || p.Destroy || p.Nodes == nil {
		return nil
	}
	return s.stage("record", 0, func(stage progress.Stage) error {
		err := s.withNotes(ctx, kubernetesPatience, func(*kube.Client, map[string]string) error { return nil })
		var unread notesError
		if errors.As(err, &unread) && ctx.Err() == nil {
			stage.Step("tree", progress.Note, "which tree is applied is not recorded: "+oneLine(unread.error))
			return nil
		}
		if err == nil {
			err = s.acquireLease(ctx, stage)
		}
		if err != nil {
			return err
		}
		return s.recordOfMachines(ctx, p.older)
	})
}
