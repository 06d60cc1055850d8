package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/lineage"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/schemas"
)

const (
	firstCommit  = "1111111111111111111111111111111111111111"
	secondCommit = "2222222222222222222222222222222222222222"
)

// newer is a history in which each tree has a commit of its own, which comes after
// whatever was applied.
func newer(env *Environment) *History {
	_, digits, _ := strings.Cut(env.seal, ":")
	return &History{Commit: digits[:40], Relation: func(context.Context, string) (lineage.Relation, error) { return lineage.Newer, nil }}
}

// inHistory is a session of a bench whose tree is from a commit. Git says what
// relation it has to others.
func (b *bench) inHistory(commit string, relation lineage.Relation) *Session {
	b.t.Helper()
	past := &History{Commit: commit, Relation: func(context.Context, string) (lineage.Relation, error) { return relation, nil }}
	return b.connect(func(c *Cloud) { c.History = past })
}

// recorded is what the labels of the network say.
func (b *bench) recorded() lineage.Tree {
	b.t.Helper()
	s := b.connect()
	return labelledRecord{presentTree: presentTree{env: b.env}}.applied(b.plan(s, Policy{}).Observed)
}

func (b *bench) applyIn(s *Session, policy Policy) error {
	b.t.Helper()
	_, err := s.Apply(b.t.Context(), b.plan(s, policy), policy, Owner{Name: "ann@desk", Run: "1"})
	return err
}

// demo is the demo with another description of a rule, and another label of the
// network.
func demo(description string) string {
	text := strings.Replace(demoInfrastructure, "description: ping", "description: "+description, 1)
	return strings.Replace(text, "labels: {cluster: demo,", "labels: {team: "+description+", cluster: demo,", 1)
}

// The tree is recorded with what keeps it, by no call of its own. Where there is
// nothing to do, nothing is written.
func TestTreeIsRecorded(t *testing.T) {
	b := newBench(t, demo("a"))
	if err := b.applyIn(b.inHistory(firstCommit, lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	first := b.recorded()
	if first.Commit != firstCommit || len(first.Seal) != sealDigits {
		t.Fatalf("recorded: %+v", first)
	}
	if puts := b.faults.Requests("PUT", "/networks/*"); len(puts) > 0 {
		t.Errorf("what makes the network records the tree too: %v", puts)
	}
	before := b.writes()
	if err := b.applyIn(b.inHistory(secondCommit, lineage.Newer), Policy{}); err != nil || b.writes() != before {
		t.Errorf("nothing to do: %d writes, %v", b.writes()-before, err)
	}
	if now := b.recorded(); now != first {
		t.Errorf("nothing was done, and recorded is %+v", now)
	}

	// One that is in no commit leaves the commit of the one before.
	b.render(demo("b"))
	if err := b.applyIn(b.inHistory("", lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	dirty := b.recorded()
	if dirty.Commit != firstCommit || dirty.Seal == first.Seal {
		t.Errorf("after a tree that is in no commit: %+v", dirty)
	}
	// The same run changes labels of the network, which has the record.
	b.render(demo("c"))
	if err := b.applyIn(b.inHistory(secondCommit, lineage.Newer), Policy{}); err != nil {
		t.Fatal(err)
	}
	if now := b.recorded(); now.Commit != secondCommit || now.Seal == dirty.Seal {
		t.Errorf("after a newer commit: %+v", now)
	}
	if s := b.connect(); !b.plan(s, Policy{}).Empty() {
		t.Error("the record is a difference")
	}
}

// A cluster without a network of its own has its record on its firewall, and the
// lock, which is a firewall too, is not taken for it.
func TestTreeIsRecordedOnAFirewall(t *testing.T) {
	from, _, _ := strings.Cut(demoInfrastructure, "network:")
	_, rules, _ := strings.Cut(demoInfrastructure, "firewalls:")
	rules, _, _ = strings.Cut(rules, "placementGroups:")
	b := newBench(t, from+"firewalls:"+rules)
	if err := b.applyIn(b.inHistory(firstCommit, lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	if now := b.recorded(); now.Commit != firstCommit {
		t.Errorf("recorded: %+v", now)
	}
	own := map[string]string{schemas.LabelCluster: "demo", schemas.LabelManagedBy: schemas.ManagedBy}
	lock := map[string]string{schemas.LabelCluster: "demo", schemas.LabelManagedBy: schemas.ManagedBy, schemas.LabelComponent: schemas.ComponentLock}
	o := cloudplan.Observed{
		Networks:  []cloudplan.Network{{Meta: cloudplan.Meta{ID: 1, Labels: map[string]string{schemas.LabelCluster: "other", schemas.LabelManagedBy: schemas.ManagedBy}}}},
		Firewalls: []cloudplan.Firewall{{Meta: cloudplan.Meta{ID: 2, Labels: lock}}, {Meta: cloudplan.Meta{ID: 4, Labels: nil}}, {Meta: cloudplan.Meta{ID: 3, Labels: own}}},
	}
	own["it"] = "yes"
	if labels := noteLabels(o, "demo"); labels["it"] != "yes" {
		t.Errorf("the notes are looked for at %v", labels)
	}
}

// What cannot be recorded is not begun, and what is recorded comes first.
func TestTreeIsRecordedFirst(t *testing.T) {
	b := newBench(t, demo("a"))
	if err := b.applyIn(b.inHistory(firstCommit, lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	b.render(demo("b"))
	b.faults.Inject(faultproxy.Fault{Method: "PUT", Path: "/networks/*", As: faultproxy.Refuse(422, "invalid_input")})
	before := len(b.sim.Calls())
	err := b.applyIn(b.inHistory(secondCommit, lineage.Newer), Policy{})
	if err == nil || !strings.Contains(err.Error(), "notes of the cluster demo") {
		t.Errorf("%v", err)
	}
	for _, c := range b.sim.Calls()[before:] {
		if c.Method == "PUT" || c.Method == "POST" && c.Path != "/v1/firewalls" && c.Path != "/firewalls" {
			t.Errorf("%s %s, and the tree is not recorded", c.Method, c.Path)
		}
	}
	// The same commit goes on.
	if err := b.applyIn(b.inHistory(secondCommit, lineage.Newer), Policy{}); err != nil || b.recorded().Commit != secondCommit {
		t.Errorf("%v, recorded %+v", err, b.recorded())
	}
}

// Killed after the record and before the changes: the same commit resumes.
func TestTreeIsRecordedAndNotApplied(t *testing.T) {
	b := newBench(t, demo("a"))
	if err := b.applyIn(b.inHistory(firstCommit, lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	b.render(demo("b"))
	s := b.inHistory(secondCommit, lineage.Newer)
	if err := s.record.begin(t.Context(), b.plan(s, Policy{}).Observed, false); err != nil {
		t.Fatal(err)
	}
	// Git is not asked: it is the same commit.
	if err := b.applyIn(b.inHistory(secondCommit, lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	if s := b.connect(); !b.plan(s, Policy{}).Empty() {
		t.Error("it did not go on")
	}
}

// An older tree is refused when it is planned, and also if a newer one was applied
// between the plan and the lock. Consent holds for both, and nothing else gives it.
func TestOlderTreeIsRefused(t *testing.T) {
	b := newBench(t, demo("a"))
	if err := b.applyIn(b.inHistory(secondCommit, lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	b.render(demo("b"))
	all := Policy{Consent: plan.Consent{AllowDestroy: true, AllowPowerOff: true, Allow: []string{"demo", "rendered/dev"}}}
	for _, relation := range []lineage.Relation{lineage.Older, lineage.Unknown} {
		before := b.writes()
		s := b.inHistory(firstCommit, relation)
		p := b.plan(s, all)
		if p.Executable() || !p.Refused() || p.Nodes != nil {
			t.Errorf("relation %d: it is not refused:\n%s", relation, p)
		}
		if _, err := s.Apply(t.Context(), p, all, Owner{Name: "ann@desk", Run: "1"}); err == nil || b.writes() != before {
			t.Errorf("relation %d: %d writes, %v", relation, b.writes()-before, err)
		}
	}

	// The plan was made when nobody knew.
	s := b.inHistory(firstCommit, lineage.Newer)
	p := b.plan(s, all)
	s.record.(labelledRecord).history.Relation = func(context.Context, string) (lineage.Relation, error) { return lineage.Older, nil }
	_, err := s.Apply(t.Context(), p, all, Owner{Name: "ann@desk", Run: "1"})
	if err == nil || diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "is older than commit") {
		t.Errorf("with the lock taken: %v", err)
	}

	if err := b.applyIn(b.inHistory(firstCommit, lineage.Older), Policy{Consent: plan.Consent{Allow: []string{lineage.Consent}}}); err != nil {
		t.Errorf("with consent: %v", err)
	}
	if now := b.recorded(); now.Commit != firstCommit {
		t.Errorf("after consent: %+v", now)
	}
}

// Where there is nothing else to do, consent is recorded all the same, once; a newer
// tree needs none, and is not recorded for it.
func TestConsentToAnOlderTreeIsRecorded(t *testing.T) {
	b := newBench(t, demo("a"))
	if err := b.applyIn(b.inHistory(secondCommit, lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	b.render(demo("a")) // with another seal
	agreed := Policy{Consent: plan.Consent{Allow: []string{lineage.Consent}}}
	if err := b.applyIn(b.inHistory(firstCommit, lineage.Newer), agreed); err != nil || b.recorded().Commit != secondCommit {
		t.Errorf("newer: %v, recorded %+v", err, b.recorded())
	}
	s := b.inHistory(firstCommit, lineage.Older)
	if err := s.CheckTree(t.Context()); err == nil || !strings.Contains(err.Error(), "is older than commit 222222222222") {
		t.Errorf("a node would be replaced: %v", err)
	}
	if err := b.applyIn(s, agreed); err != nil || b.recorded().Commit != firstCommit {
		t.Errorf("older: %v, recorded %+v", err, b.recorded())
	}
	before := b.writes()
	s = b.inHistory(firstCommit, lineage.Unknown)
	if err := errors.Join(s.CheckTree(t.Context()), b.applyIn(s, agreed)); err != nil || b.writes() != before {
		t.Errorf("once more: %d writes, %v", b.writes()-before, err)
	}
}

// A kept plan is no way around it, and keeps the consent that it was made with.
func TestOlderTreeOfAKeptPlan(t *testing.T) {
	b := newBench(t, demo("a"))
	if err := b.applyIn(b.inHistory(secondCommit, lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	b.render(demo("b"))
	for _, consent := range []plan.Consent{{}, {Allow: []string{lineage.Consent}}} {
		s := b.inHistory(firstCommit, lineage.Older)
		text, err := b.plan(s, Policy{Consent: consent}).Save()
		if err != nil {
			t.Fatal(err)
		}
		saved, err := LoadPlan("plan.json", text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Resume(t.Context(), saved, Policy{})
		if err != nil || p.Executable() != agreesToOlder(consent) {
			t.Fatalf("consent %v: executable %v, %v", consent.Allow, p.Executable(), err)
		}
		if !p.Executable() {
			continue
		}
		if _, err := s.Apply(t.Context(), p, Policy{}, Owner{Name: "ann@desk", Run: "1"}); err != nil {
			t.Errorf("%v", err)
		}
	}
}

// That Git cannot be asked is an error, and does not mean that the tree is newer.
func TestHistoryThatCannotBeRead(t *testing.T) {
	b := newBench(t, demo("a"))
	if err := b.applyIn(b.inHistory(secondCommit, lineage.Unknown), Policy{}); err != nil {
		t.Fatal(err)
	}
	b.render(demo("b"))
	s, broken := b.inHistory(firstCommit, lineage.Newer), errors.New("git is broken")
	s.record.(labelledRecord).history.Relation = func(context.Context, string) (lineage.Relation, error) { return lineage.Newer, broken }
	if _, err := s.Plan(t.Context(), Policy{}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
