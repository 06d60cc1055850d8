package recreate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/apply/plan/recreate"
	"github.com/talosgen/talosgen/schemas"
)

// found are three nodes: a control plane and a worker that move, and a worker whose
// disk is encrypted.
func found() *recreate.Plan {
	moves := []cloudplan.Field{{Name: cloudplan.FieldLocation}}
	return recreate.Find(
		[]cloudplan.Recreation{
			{Node: "w-10", Role: schemas.RoleWorker, Pool: "worker", Fields: moves, Location: "fsn1"},
			{Node: "cp-1", Role: schemas.RoleControlPlane, Pool: "control-plane", Fields: moves, Location: "fsn1"},
			{Node: "w-3", Role: schemas.RoleWorker, Pool: "worker"}, // a configuration forces it: see below
		},
		[]nodeplan.Recreation{{Node: "w-2", Role: nodeplan.Worker, Changes: []nodeconfig.Change{{Document: "VolumeConfig/STATE", Path: "encryption"}}}},
		map[string]string{"w-2": "worker"},
	)
}

// Each consent that is missing keeps its node, and no other one; none to everything
// that destroys is enough.
func TestAgree(t *testing.T) {
	volumes := []recreate.Bound{
		{Claim: "a/local", Nodes: []string{"w-10"}},
		{Claim: "a/host", HostPath: true, Pods: map[string][]string{"w-2": {"a/pod"}}},
		{Claim: "a/elsewhere", Locations: []string{"fsn1"}, Pods: map[string][]string{"w-2": {"a/stays"}, "cp-1": {"a/moves"}}},
	}
	for _, tt := range []struct {
		name    string
		volumes []recreate.Bound
		consent plan.Consent
		due     string
		keep    string
	}{
		{"none", nil, plan.Consent{}, "", ""},
		{"to everything that destroys", nil, plan.Consent{AllowDestroy: true, Allow: []string{"w-2", "server/w-2"}}, "", ""},
		{"by node", nil, plan.Consent{Allow: []string{"recreate/w-2", "recreate/cp-1"}}, "cp-1 w-2", ""},
		{"by pool", nil, plan.Consent{Allow: []string{"recreate/worker"}}, "w-2 w-10", ""},
		{"to all, but not to what volumes lose", volumes, plan.Consent{Allow: []string{"recreate/worker", "recreate/control-plane"}}, "", "cp-1 w-2 w-10"},
		{"to volumes of one", volumes, plan.Consent{Allow: []string{"recreate/worker", "volumes/w-10"}}, "w-10", "w-2"},
		{"to volumes alone", volumes, plan.Consent{Allow: []string{"volumes/worker"}}, "", ""},
		{"to both", volumes, plan.Consent{Allow: []string{"recreate/worker", "volumes/worker"}}, "w-2 w-10", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := found()
			p.Lose(tt.volumes)
			p.Agree(tt.consent)
			if due := strings.Join(p.DueNames(), " "); due != tt.due {
				t.Errorf("due %q, want %q", due, tt.due)
			}
			if keep := strings.Join(p.Keep(), " "); keep != tt.keep {
				t.Errorf("keep %q, want %q", keep, tt.keep)
			}
			if len(p.Waiting())+len(p.Due()) != 3 {
				t.Errorf("some neither wait nor are due: %v", p.Waiting())
			}
		})
	}
}

// Which server forces it, and which configuration: what is asked of the cloud differs.
func TestRebuild(t *testing.T) {
	p := found()
	p.Agree(plan.Consent{Allow: []string{"recreate/worker"}})
	if rebuild := p.Rebuild(); !slices.Equal(rebuild, []string{"w-2"}) {
		t.Errorf("rebuild %q", rebuild)
	}
	left := p.Without([]string{"w-2"})
	if got := left.DueNames(); !slices.Equal(got, []string{"w-10"}) || len(p.Nodes) != 3 {
		t.Errorf("left %q of %d", got, len(p.Nodes))
	}
}

// Who asks for consent names claims and pods, and how it is given.
func TestWaiting(t *testing.T) {
	p := found()
	p.Lose([]recreate.Bound{{Claim: "a/elsewhere", Locations: []string{"fsn1"}, Pods: map[string][]string{"cp-1": {"a/moves"}}}})
	p.Agree(plan.Consent{})
	got := p.Waiting()[0]
	for _, want := range []string{"a/elsewhere stays in fsn1", "pods a/moves"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%q lacks %q", got.Text, want)
		}
	}
	if want := "--allow recreate/control-plane --allow volumes/control-plane, or with the name of one node"; got.Hint != want {
		t.Errorf("%q, want %q", got.Hint, want)
	}
}

// A read that failed is not the absence of volumes.
func TestUnknown(t *testing.T) {
	p := found()
	p.Unknown("it does not answer")
	p.Agree(plan.Consent{Allow: []string{"recreate/worker"}})
	if len(p.Due()) > 0 || len(p.Warnings) != 3 {
		t.Errorf("due %q, warnings %v", p.DueNames(), p.Warnings)
	}
}
