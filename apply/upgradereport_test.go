package apply

import (
	"reflect"
	"testing"

	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// An upgrade that was refused tells the flags of consent, unless consent does not help.
func TestConsentsOfUpgrades(t *testing.T) {
	risks := &upgradeplan.Plan{}
	risks.Risks = append(risks.Risks, riskOf("C-single", false), riskOf("C-hops", true), riskOf("C-two", false))
	r := &Report{upgrade: upgradeReport{agreed: risks}}
	if got := r.consents(); !reflect.DeepEqual(got, []string{"--allow", "C-single", "--allow", "C-two"}) || r.outcome(nil) != "refused" {
		t.Errorf("consents %q, outcome %s", got, r.outcome(nil))
	}
	risks.Refusals = append(risks.Refusals, noteOf("R1"))
	if got := r.consents(); got != nil || r.outcome(nil) != "refused" {
		t.Errorf("consents %q, outcome %s", got, r.outcome(nil))
	}
}

// TestRetriesOfUpgrades: what is tried again is named by the next command, unless
// something else is in the way too.
func TestRetriesOfUpgrades(t *testing.T) {
	went := func(name string) upgradeplan.Note { return upgradeplan.Note{Node: name, Retry: true} }
	for _, c := range []struct {
		stopped, refused []upgradeplan.Note
		want             []string
	}{
		{want: nil},
		{stopped: []upgradeplan.Note{went("cp-1"), went("cp-2")}, want: []string{"--retry", "cp-1", "--retry", "cp-2"}},
		{refused: []upgradeplan.Note{went("cp-1")}, want: []string{"--retry", "cp-1"}},
		{refused: []upgradeplan.Note{went("cp-1"), noteOf("R3")}, want: nil},
	} {
		u := upgradeReport{agreed: &upgradeplan.Plan{Refusals: c.refused}, stopped: c.stopped}
		if got := u.retries(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v, %v: %q, want %q", c.stopped, c.refused, got, c.want)
		}
	}
}

// TestReturned: nodes that went back are upgraded once more by flags, unless Git has what
// they went back to.
func TestReturned(t *testing.T) {
	u := upgradeReport{agreed: &upgradeplan.Plan{Left: []upgradeplan.Note{{Node: "cp-1"}}}, steps: []upgradeplan.Step{
		{Action: upgradeplan.Drain, Node: "cp-1"}, {Action: upgradeplan.Rollback, Node: "cp-1"}, {Action: upgradeplan.Rollback, Node: "w-1"},
	}}
	if got := u.returned(); !reflect.DeepEqual(got, []string{"--retry", "cp-1"}) {
		t.Errorf("%q", got)
	}
}

// TestInstalled: an apply writes configurations after an upgrade, while they name the
// image of before.
func TestInstalled(t *testing.T) {
	step := func(a upgradeplan.Action, node string) upgradeplan.Step {
		return upgradeplan.Step{Action: a, Node: node}
	}
	for _, c := range []struct {
		steps          []upgradeplan.Step
		another, named bool
	}{
		{steps: nil},
		{steps: []upgradeplan.Step{step(upgradeplan.Configure, "cp-1")}},
		{steps: []upgradeplan.Step{step(upgradeplan.Install, "cp-1")}, another: true, named: true},
		{steps: []upgradeplan.Step{step(upgradeplan.Install, "cp-1"), step(upgradeplan.Boot, "cp-1"), step(upgradeplan.Contract, "cp-1")}, another: true},
		{steps: []upgradeplan.Step{step(upgradeplan.Install, "cp-1"), step(upgradeplan.Install, "w-1"), step(upgradeplan.Contract, "cp-1")}, another: true, named: true},
		{steps: []upgradeplan.Step{step(upgradeplan.Contract, "cp-1"), step(upgradeplan.Install, "cp-1")}, another: true, named: true},
	} {
		if another, named := (&upgradeReport{steps: c.steps}).installed(); another != c.another || named != c.named {
			t.Errorf("%v: %t, %t", c.steps, another, named)
		}
	}
}

func riskOf(id string, agreed bool) upgradeplan.Risk { return upgradeplan.Risk{ID: id, Agreed: agreed} }

func noteOf(id string) upgradeplan.Note { return upgradeplan.Note{ID: id} }
