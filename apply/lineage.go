package apply

import (
	"context"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/lineage"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Relation is what Git says of two commits; see the package lineage.
type Relation = lineage.Relation

// The relations.
const (
	CommitUnknown = lineage.Unknown
	CommitNewer   = lineage.Newer
	CommitOlder   = lineage.Older
	CommitsApart  = lineage.Apart
)

// History is what Git knows of the commit that a tree is from.
type History struct {
	// The commit, in at most 40 hexadecimal digits; empty if the tree is in none as
	// it is.
	Commit string
	// Relation compares it with the commit that was applied before. That Git does not
	// know that one is no error.
	Relation func(ctx context.Context, applied string) (Relation, error)
}

// The notes that say which tree was applied last, or was about to be.
const (
	noteCommit = "applied-commit"
	noteSeal   = "applied-seal"
	// sealDigits of a seal are enough to tell trees apart, and fit in a label.
	sealDigits = 32
)

// tree is the present tree. Without a key nobody knows whether its seal is genuine.
func (s *Session) tree() lineage.Tree {
	t := lineage.Tree{Commit: s.history.Commit}
	if !s.env.keyless {
		_, digits, _ := strings.Cut(s.env.seal, ":")
		t.Seal = digits[:min(len(digits), sealDigits)]
	}
	return t
}

// appliedTree is the tree that was applied last, by the labels of the object that
// keeps notes; the zero value if there is no such object or note.
func (s *Session) appliedTree(o cloudplan.Observed) lineage.Tree {
	labels := s.noteLabels(o)
	return lineage.Tree{Commit: labels[schemas.LabelPrefix+noteCommit], Seal: labels[schemas.LabelPrefix+noteSeal]}
}

// noteLabels are the labels of the object that keeps notes, which the package cloud
// finds in the same way; nil if there is none.
func (s *Session) noteLabels(o cloudplan.Observed) map[string]string {
	var found *cloudplan.Meta
	take := func(m cloudplan.Meta) {
		own := m.Labels[schemas.LabelCluster] == s.env.Infrastructure.Cluster && m.Labels[schemas.LabelManagedBy] == schemas.ManagedBy
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

// agreesToOlder reports whether somebody agreed to a tree that is older.
func agreesToOlder(c Consent) bool { return slices.Contains(c.Allow, lineage.Consent) }

// compareTrees compares the tree with the one that was applied last.
func (s *Session) compareTrees(ctx context.Context, applied lineage.Tree, agreed bool) (lineage.Verdict, error) {
	if s.history == nil {
		return lineage.Verdict{}, nil
	}
	relation := lineage.Unknown
	if lineage.Asks(applied, s.tree()) {
		var err error
		if relation, err = s.history.Relation(ctx, applied.Commit); err != nil {
			return lineage.Verdict{}, err
		}
	}
	return lineage.Decide(applied, s.tree(), relation, agreed), nil
}

// treeKey is what messages call the tree.
func (s *Session) treeKey() plan.Key { return plan.Key(strings.TrimSuffix(s.env.path(""), "/")) }

// withLineage adds to a plan what there is to say about the age of the tree. It
// reports whether that is refused: then nothing else is to be looked at.
func (s *Session) withLineage(ctx context.Context, p *cloudplan.Plan, policy Consent) (refused bool, err error) {
	if s.project == nil {
		return false, nil // what was applied is known when the nodes are
	}
	v, err := s.compareTrees(ctx, s.appliedTree(p.Observed), agreesToOlder(policy))
	return s.noteVerdict(p, v), err
}

// noteVerdict adds a verdict to a plan, and reports whether it refuses.
func (s *Session) noteVerdict(p *cloudplan.Plan, v lineage.Verdict) (refused bool) {
	note := plan.Note{Key: s.treeKey(), Text: v.Text, Hint: v.Hint}
	switch v.State {
	case lineage.Warn:
		p.Warnings = append(p.Warnings, note)
	case lineage.Refuse:
		p.Refusals = append(p.Refusals, note)
	}
	return v.State == lineage.Refuse
}

// CheckTree refuses a tree that is older than the one that was applied last, or may
// be, for a command that makes no plan of the whole and has no consent to it.
func (s *Session) CheckTree(ctx context.Context) error {
	if s.history == nil {
		return nil
	}
	v, err := s.verdict(ctx, false)
	if err != nil || v.State != lineage.Refuse {
		return err
	}
	return diag.On(string(s.treeKey()), "%s", v.Text).WithHint("%s, with `talosgen apply %s`", v.Hint, s.env.name)
}

// verdict reads what was applied last, and compares the tree with it.
func (s *Session) verdict(ctx context.Context, agreed bool) (lineage.Verdict, error) {
	if s.project == nil {
		return s.verdictOfMachines(ctx, leasePatience, agreed)
	}
	notes, err := s.project.Notes(s.env.Infrastructure.Cluster).Read(ctx)
	if err != nil {
		return lineage.Verdict{}, err
	}
	return s.compareTrees(ctx, treeOf(notes), agreed)
}

// treeOf is the tree that notes name.
func treeOf(notes map[string]string) lineage.Tree {
	return lineage.Tree{Commit: notes[noteCommit], Seal: notes[noteSeal]}
}

// recordConsent records the tree of a run that has nothing to do, if it is older and
// somebody agreed to that: who comes next is not to be asked again.
func (s *Session) recordConsent(ctx context.Context, agreed *Plan, owner Owner) error {
	if !agreed.older || agreed.Destroy {
		return nil
	}
	v, err := s.verdict(ctx, false)
	if err != nil || v.State != lineage.Refuse {
		return err
	}
	return s.locked(ctx, owner, func() error { return s.recordTree(ctx, agreed.Observed, true) })
}

// recordTree records the tree before the first change, with the lock taken. What
// somebody else has applied since the plan was made may be newer. What is observed
// learns what is written.
func (s *Session) recordTree(ctx context.Context, o cloudplan.Observed, agreed bool) error {
	switch {
	case s.history == nil:
		return nil
	case s.project == nil:
		return s.recordOfMachines(ctx, agreed)
	}
	applied := s.appliedTree(o)
	v, err := s.compareTrees(ctx, applied, agreed)
	if err != nil {
		return err
	}
	if v.State == lineage.Refuse {
		return s.overtaken(v)
	}
	labels := s.noteLabels(o)
	next := s.treeNotes()
	if labels == nil || !differ(labels, next) {
		return nil // what keeps notes is made with them, or has them
	}
	notes := map[string]string{}
	for label, value := range next {
		notes[strings.TrimPrefix(label, schemas.LabelPrefix)] = value
		labels[label] = value
	}
	return s.project.Notes(s.env.Infrastructure.Cluster).Write(ctx, notes)
}

// overtaken is the error that a newer tree was applied since the plan was made.
func (s *Session) overtaken(v lineage.Verdict) error {
	return diag.On(string(s.treeKey()), "%s", v.Text).WithHint("%s", v.Hint).WithCode(diag.Conflict)
}

// treeNotes are the labels that say which tree is applied. One that is in no commit
// leaves the commit that was applied before it: what is older than that is older
// than this.
func (s *Session) treeNotes() map[string]string {
	if s.history == nil {
		return nil
	}
	t := s.tree()
	notes := map[string]string{schemas.LabelPrefix + noteSeal: t.Seal}
	if t.Commit != "" {
		notes[schemas.LabelPrefix+noteCommit] = t.Commit
	}
	return notes
}

// differ reports whether labels lack some of those that are wanted.
func differ(have, want map[string]string) bool {
	for label, value := range want {
		if have[label] != value {
			return true
		}
	}
	return false
}
