package apply

import (
	"context"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/lineage"
	"github.com/talosgen/talosgen/schemas"
)

// labelledRecord keeps which tree was applied in labels at Hetzner Cloud.
type labelledRecord struct {
	presentTree
	project *cloud.Client
}

// judge knows the record as soon as the infrastructure was looked at.
func (r labelledRecord) judge(ctx context.Context, after Stage, p *Plan) (refused bool, err error) {
	if after != StageInfrastructure {
		return false, nil
	}
	v, err := r.compare(ctx, r.applied(p.Observed), p.older)
	return r.note(p.Plan, v), err
}

// applied is the tree that was applied last, by the labels of the object that
// keeps notes; the zero value if there is no such object or note.
func (r labelledRecord) applied(o cloudplan.Observed) lineage.Tree {
	labels := noteLabels(o, r.env.Infrastructure.Cluster)
	return lineage.Tree{Commit: labels[schemas.LabelPrefix+noteCommit], Seal: labels[schemas.LabelPrefix+noteSeal]}
}

// noteLabels are the labels of the object that keeps the notes of a cluster, which
// the package cloud finds in the same way; nil if there is none.
func noteLabels(o cloudplan.Observed, cluster string) map[string]string {
	var found *cloudplan.Meta
	take := func(m cloudplan.Meta) {
		own := schemas.OwnedBy(cluster, m.Labels)
		component := m.Labels[schemas.LabelComponent]
		lasting := component != schemas.ComponentLock && component != schemas.ComponentSession
		if own && lasting && (found == nil || m.Created.Before(found.Created) || m.Created.Equal(found.Created) && m.ID < found.ID) {
			found = &m
		}
	}
	for _, n := range o.Networks {
		take(n.Meta)
	}
	if found == nil {
		for _, f := range o.Firewalls {
			take(f.Meta)
		}
	}
	if found == nil {
		return nil
	}
	return found.Labels
}

// verdict reads the notes.
func (r labelledRecord) verdict(ctx context.Context) (lineage.Verdict, error) {
	notes, err := r.project.Notes(r.env.Infrastructure.Cluster).Read(ctx)
	if err != nil {
		return lineage.Verdict{}, err
	}
	return r.compare(ctx, treeOf(notes), false)
}

// begin writes the notes, where there is an object that keeps them; another one is
// made with them.
func (r labelledRecord) begin(ctx context.Context, o cloudplan.Observed, agreed bool) error {
	v, err := r.compare(ctx, r.applied(o), agreed)
	if err != nil {
		return err
	}
	if v.State == lineage.Refuse {
		return r.overtaken(v)
	}
	labels := noteLabels(o, r.env.Infrastructure.Cluster)
	next := r.notes()
	if labels == nil || !differ(labels, next) {
		return nil
	}
	notes := map[string]string{}
	for label, value := range next {
		notes[strings.TrimPrefix(label, schemas.LabelPrefix)] = value
		labels[label] = value
	}
	return r.project.Notes(r.env.Infrastructure.Cluster).Write(ctx, notes)
}

// serving and end have nothing to add: the tree was recorded at the beginning.
func (r labelledRecord) serving(context.Context, bool) error { return nil }
func (r labelledRecord) end(context.Context, *Plan) error    { return nil }
