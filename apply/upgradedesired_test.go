package apply

import (
	"reflect"
	"strings"
	"testing"

	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/schemas"
)

// The extensions of an image are those of its schematic, as the Image Factory names
// them without their vendor; of an id alone nothing is known.
func TestExtensionsOfImages(t *testing.T) {
	id, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	url := func(id string) string {
		return "https://factory.talos.dev/image/" + id + "/v1.14.1/hcloud-amd64.raw.xz"
	}
	got := extensionsOf([]schemas.InfraSnapshot{
		{URL: url(id), Schematic: "customization:\n  systemExtensions:\n    officialExtensions: [siderolabs/iscsi-tools, siderolabs/qemu-guest-agent]\n"},
		{URL: url(other)},
		{URL: "https://example.com/talos.raw.xz", Schematic: "customization: {}\n"},
		{URL: url(strings.Repeat("ef", 32)), Schematic: "customization: {}\n"},
	})
	want := map[string][]string{id: {"iscsi-tools", "qemu-guest-agent"}, strings.Repeat("ef", 32): {}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("extensions are %v", got)
	}
}

// An upgrade that was refused tells the flags of consent, unless consent does not help.
func TestConsentsOfUpgrades(t *testing.T) {
	risks := &UpgradePlan{}
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
