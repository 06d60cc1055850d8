package cloud_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/schemas"
)

// Each file in testdata/plans says what is desired and what there is, besides
// the catalogue of plantest, and how the plan looks that follows from it. Files
// that begin with destroy- are about Destroy.
func TestPlans(t *testing.T) {
	casetest.RunOne(t, "testdata/plans/*.txtar", "plan", func(t *testing.T, c casetest.Case) string {
		return planOf(t, c).String()
	})
}

// The consents of a destroy: none for what is the cluster's own.
func TestDestroyConsents(t *testing.T) {
	got := map[plan.Key]plan.ConsentKind{}
	for _, c := range planOf(t, casetest.Cases(t, "testdata/plans/destroy-everything.txtar")[0]).Changes {
		got[c.Key] = c.Consent
	}
	for key, want := range map[plan.Key]plan.ConsentKind{
		"firewall/prod": plan.NoConsent, "volume/pvc-1": plan.ConsentMade, "load-balancer/a1b2c3": plan.ConsentMade,
		"server/prod-worker-1": plan.ConsentUnlock, "network/prod": plan.ConsentUnlock,
	} {
		if is, found := got[key]; !found || is != want {
			t.Errorf("%s: %q, want %q", key, is, want)
		}
	}
}

func planOf(t *testing.T, c casetest.Case) *cloud.Plan {
	t.Helper()
	return planOfOther(t, c, func(*cloud.Observed) {})
}

// planOfOther is the plan of a case in which something else is observed.
func planOfOther(t *testing.T, c casetest.Case, change func(*cloud.Observed)) *cloud.Plan {
	t.Helper()
	desired := schemas.Infrastructure{APIVersion: schemas.InfrastructureVersion, Cluster: "prod", Provider: schemas.Hetzner}
	observed, policy := plantest.Empty(), plan.Consent{}
	decode(t, c, "desired", &desired)
	decode(t, c, "observed", &observed)
	decode(t, c, "policy", &policy)
	if c.Texts["observed"] != "" && len(observed.Images) < 2 {
		observed.Images = append(observed.Images, plantest.Empty().Images...)
	}
	change(&observed)
	run := cloud.Make
	if strings.HasPrefix(c.Name, "destroy-") {
		run = cloud.Destroy
	}
	p, err := run(desired, observed, policy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOrderOfSubnets: a plan is the same in whatever order Hetzner lists subnets, which is
// that in which they were made.
func TestOrderOfSubnets(t *testing.T) {
	for _, c := range casetest.Cases(t, "testdata/plans/*.txtar") {
		want, got := planOf(t, c), planOfOther(t, c, func(o *cloud.Observed) {
			for i := range o.Networks {
				slices.Reverse(o.Networks[i].Subnets)
			}
		})
		if got.String() != want.String() {
			t.Errorf("%s: in another order\n%s\nnot\n%s", c.Name, got, want)
		}
	}
}

// decode reads a section strictly, if there is one.
func decode(t *testing.T, c casetest.Case, name string, into any) {
	t.Helper()
	text := c.Texts[name]
	if strings.TrimSpace(text) == "" {
		return
	}
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Friction 11: whoever is asked for consent is told why, whatever it is about.
func TestConsentsSayWhy(t *testing.T) {
	asked := 0
	for _, c := range casetest.Cases(t, "testdata/plans/*.txtar") {
		if c.Texts["plan"] == "" {
			continue
		}
		for _, change := range planOf(t, c).Changes {
			if change.Consent == plan.NoConsent || strings.HasPrefix(c.Name, "destroy-") {
				continue
			}
			asked++
			if change.Why() == "" {
				t.Errorf("%s: %s: no reason", c.Name, change.Key)
			}
		}
	}
	if asked == 0 {
		t.Error("nothing asks for consent")
	}
}

// TestRescaleIsNotHarmless: a watch does not lead a route away for a change that it does not
// make itself.
func TestRescaleIsNotHarmless(t *testing.T) {
	p := planOf(t, casetest.Cases(t, "testdata/plans/gateway-standby-rescale-one.txtar")[0])
	if moves, part := p.Moves(), p.Harmless(); len(moves) != 1 || len(part.Changes) != 0 {
		t.Errorf("moves %v, harmless %v", moves, part.Changes)
	}
}
