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

// History is what Git knows of the commit that a tree is from.
type History struct {
	// The commit, in at most 40 hexadecimal digits; empty if the tree is in none as
	// it is.
	Commit string
	// Relation compares it with the commit that was applied before. That Git does not
	// know that one is no error.
	Relation func(ctx context.Context, applied string) (lineage.Relation, error)
}

// The notes that say which tree was applied last, or was about to be.
const (
	noteCommit = "applied-commit"
	noteSeal   = "applied-seal"
	// sealDigits of a seal are enough to tell trees apart, and fit in a label.
	sealDigits = 32
)

// treeRecord keeps which tree was applied last, where the cluster is.
type treeRecord interface {
	// judge adds to a plan what there is to say about the age of the tree, once the
	// record is known by the stages that have planned. It reports whether that is
	// refused: then nothing else is to be looked at.
	judge(ctx context.Context, after Stage, p *Plan) (refused bool, err error)
	// verdict reads what was applied last, and compares the tree with it.
	verdict(ctx context.Context) (lineage.Verdict, error)
	// begin records the tree before the first change, with the lock taken. What
	// somebody else has applied since the plan was made may be newer; agreed says
	// whether that is agreed to. What is observed learns what is written.
	begin(ctx context.Context, o cloudplan.Observed, agreed bool) error
	// serving records the tree once the Kubernetes API serves, if it was not before.
	serving(ctx context.Context, agreed bool) error
	// end records the tree at the end of a run, if it was not before.
	end(ctx context.Context, p *Plan) error
	// notes are the labels that an object is made with that keeps notes.
	notes() map[string]string
}

// presentTree is the tree of a run, against others.
type presentTree struct {
	env     *Environment
	history *History
}

// tree is the present tree. Without a key nobody knows whether its seal is genuine.
func (t presentTree) tree() lineage.Tree {
	tree := lineage.Tree{Commit: t.history.Commit}
	if !t.env.keyless {
		_, digits, _ := strings.Cut(t.env.seal, ":")
		tree.Seal = digits[:min(len(digits), sealDigits)]
	}
	return tree
}

// compare compares it with the one that was applied last.
func (t presentTree) compare(ctx context.Context, applied lineage.Tree, agreed bool) (lineage.Verdict, error) {
	relation := lineage.Unknown
	if lineage.Asks(applied, t.tree()) {
		var err error
		if relation, err = t.history.Relation(ctx, applied.Commit); err != nil {
			return lineage.Verdict{}, err
		}
	}
	return lineage.Decide(applied, t.tree(), relation, agreed), nil
}

// key is what messages call it.
func (t presentTree) key() plan.Key { return plan.Key(strings.TrimSuffix(t.env.path(""), "/")) }

// note adds a verdict to a plan, and reports whether it refuses.
func (t presentTree) note(p *cloudplan.Plan, v lineage.Verdict) (refused bool) {
	note := plan.Note{Key: t.key(), Text: v.Text, Hint: v.Hint}
	switch v.State {
	case lineage.Warn:
		p.Warnings = append(p.Warnings, note)
	case lineage.Refuse:
		p.Refusals = append(p.Refusals, note)
	}
	return v.State == lineage.Refuse
}

// overtaken is the error that a newer tree was applied since the plan was made.
func (t presentTree) overtaken(v lineage.Verdict) error {
	return diag.On(string(t.key()), "%s", v.Text).WithHint("%s", v.Hint).WithCode(diag.Conflict)
}

// notes are the labels that say which tree is applied. One that is in no commit
// leaves the commit that was applied before it: what is older than that is older
// than this.
func (t presentTree) notes() map[string]string {
	tree := t.tree()
	notes := map[string]string{schemas.LabelPrefix + noteSeal: tree.Seal}
	if tree.Commit != "" {
		notes[schemas.LabelPrefix+noteCommit] = tree.Commit
	}
	return notes
}

// agreesToOlder reports whether somebody agreed to a tree that is older.
func agreesToOlder(c plan.Consent) bool { return slices.Contains(c.Allow, lineage.Consent) }

// treeOf is the tree that notes name.
func treeOf(notes map[string]string) lineage.Tree {
	return lineage.Tree{Commit: notes[noteCommit], Seal: notes[noteSeal]}
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

// recordConsent records the tree of a run that has nothing to do, if it is older and
// somebody agreed to that: who comes next is not to be asked again.
func recordConsent(ctx context.Context, record treeRecord, lock *locker, agreed *Plan, owner Owner) error {
	if !agreed.older || agreed.Destroy {
		return nil
	}
	v, err := record.verdict(ctx)
	if err != nil || v.State != lineage.Refuse {
		return err
	}
	return lock.locked(ctx, owner, func() error { return record.begin(ctx, agreed.Observed, true) })
}

// noRecord compares and records nothing.
type noRecord struct{}

func (noRecord) judge(context.Context, Stage, *Plan) (bool, error)      { return false, nil }
func (noRecord) verdict(context.Context) (v lineage.Verdict, err error) { return v, nil }
func (noRecord) begin(context.Context, cloudplan.Observed, bool) error  { return nil }
func (noRecord) serving(context.Context, bool) error                    { return nil }
func (noRecord) end(context.Context, *Plan) error                       { return nil }
func (noRecord) notes() map[string]string                               { return nil }
