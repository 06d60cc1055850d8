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

func riskOf(id string, agreed bool) upgradeplan.Risk { return upgradeplan.Risk{ID: id, Agreed: agreed} }

func noteOf(id string) upgradeplan.Note { return upgradeplan.Note{ID: id} }
