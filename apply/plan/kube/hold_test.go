package kube

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
)

// An object is there and as desired, if its file says so; or there and edited; or
// missing.
const (
	isThere  = "there"
	isEdited = "edited"
	isNew    = ""
)

// put is an object of a tree, and how it is in the cluster.
type put struct {
	object string
	file   string
	stage  Stage
	is     string
}

const (
	ccmConfig     = "{apiVersion: v1, kind: ConfigMap, metadata: {name: ccm, namespace: ns}, data: {x: one}}"
	ccmRole       = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: ccm, namespace: ns}, automountServiceAccountToken: true}"
	otherConfig   = "{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: other}, data: {x: one}}"
	otherRole     = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: other, namespace: other}, automountServiceAccountToken: true}"
	keyOfFlux     = "{apiVersion: v1, kind: Secret, metadata: {name: key, namespace: fs}, data: {x: eA==}}"
	otherSpace    = "{apiVersion: v1, kind: Namespace, metadata: {name: other, labels: {a: b}}}"
	thingsDefined = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.org}, spec: {group: example.org, names: {kind: Thing}}}"
	goneConfig    = "{apiVersion: v1, kind: ConfigMap, metadata: {name: gone, namespace: ns}, data: {x: one}}"
)

// edited plans for objects, with an object that is in Git no more.
func edited(t *testing.T, puts []put) *Plan {
	t.Helper()
	d := Desired{Cluster: "demo"}
	o := Observed{
		API: true, Objects: map[ID]Object{}, Served: map[string]bool{}, Trials: map[ID]DryRun{},
		Namespaces: map[string]bool{"ns": false, "other": false, "fs": false},
	}
	for _, p := range puts {
		item := Item{Object: object(t, p.object), File: p.file, Stage: p.stage}
		d.Items = append(d.Items, item)
		o.Served[Served(item.Object)] = true
		if p.is == isNew {
			continue
		}
		o.Objects[item.ID()] = object(t, p.object)
		o.Trials[item.ID()] = DryRun{Result: object(t, managed(p.object, entry("talosgen", "Apply", dataX)))}
		if p.is == isEdited {
			o.Trials[item.ID()] = DryRun{Conflicts: []FieldConflict{{"kubectl-edit", []string{"data.x"}}}}
		}
	}
	gone := object(t, managed(goneConfig, entry("talosgen", "Apply", dataX)))
	o.Objects[gone.ID()], o.Inventory = gone, []ID{gone.ID()}
	return Make(d, o, plan.Consent{})
}

// TestHold: what somebody has edited stays, and what depends on it waits; the
// rest goes on.
func TestHold(t *testing.T) {
	const ccm, other, key, crds = "bootstrap/ccm/a.yaml", "bootstrap/other/a.yaml", "bootstrap/flux/a.yaml", "addons/crds/a.yaml"
	for name, test := range map[string]struct {
		puts []put
		want string // the steps that are taken; those that wait
	}{
		"nothing is edited":                        {[]put{{ccmConfig, ccm, Provider, isThere}, {keyOfFlux, key, Keys, isNew}}, "change ConfigMap/ns/ccm, create Secret/fs/key, delete ConfigMap/ns/gone; "},
		"another addon goes on, and later stages":  {[]put{{ccmConfig, ccm, Provider, isEdited}, {otherConfig, other, Provider, isThere}, {keyOfFlux, key, Keys, isNew}}, "change ConfigMap/other/other, create Secret/fs/key; ConfigMap/ns/gone"},
		"its addon waits":                          {[]put{{ccmConfig, ccm, Provider, isEdited}, {ccmRole, ccm, Provider, isThere}, {otherConfig, other, Provider, isNew}}, "create ConfigMap/other/other; ServiceAccount/ns/ccm ConfigMap/ns/gone"},
		"a later stage needs what is not made":     {[]put{{ccmConfig, ccm, CNI, isEdited}, {ccmRole, ccm, CNI, isNew}, {otherConfig, other, Provider, isNew}}, "; ServiceAccount/ns/ccm ConfigMap/other/other ConfigMap/ns/gone"},
		"the same stage does not":                  {[]put{{ccmConfig, ccm, Provider, isEdited}, {ccmRole, ccm, Provider, isNew}, {otherConfig, other, Provider, isNew}}, "create ConfigMap/other/other; ServiceAccount/ns/ccm ConfigMap/ns/gone"},
		"what is in a namespace":                   {[]put{{otherSpace, crds, Definitions, isEdited}, {otherConfig, other, Provider, isNew}, {ccmConfig, ccm, Provider, isNew}}, "create ConfigMap/ns/ccm; ConfigMap/other/other ConfigMap/ns/gone"},
		"what is of a kind":                        {[]put{{thingsDefined, crds, Definitions, isEdited}, {thing, other, Provider, isNew}, {ccmConfig, ccm, Provider, isNew}}, "create ConfigMap/ns/ccm; Thing.example.org/ns/a ConfigMap/ns/gone"},
		"and what depends on that":                 {[]put{{otherSpace, crds, Definitions, isEdited}, {otherConfig, other, CNI, isNew}, {ccmConfig, ccm, Provider, isNew}}, "; ConfigMap/other/other ConfigMap/ns/ccm ConfigMap/ns/gone"},
		"a namespace of its addon holds up others": {[]put{{otherConfig, other, Provider, isEdited}, {otherSpace, other, Definitions, isThere}, {strings.Replace(otherRole, "name: other,", "name: guest,", 1), ccm, Provider, isNew}}, "; Namespace/other ServiceAccount/other/guest ConfigMap/ns/gone"},
	} {
		t.Run(name, func(t *testing.T) {
			p := edited(t, test.puts)
			var taken, waiting []string
			for _, s := range p.Steps {
				switch {
				case s.Effective():
					taken = append(taken, s.String())
				case s.Action == Blocked:
					waiting = append(waiting, string(s.Key))
				}
			}
			if got := strings.Join(taken, ", ") + "; " + strings.Join(waiting, " "); got != test.want {
				t.Errorf("the plan is %q, want %q\n%s", got, test.want, p)
			}
			if _, after := p.Inventory(); len(waiting) > 0 && after[len(after)-1].Name != "gone" {
				t.Errorf("what waits to be deleted is not talosgen's any more: %v", after)
			}
		})
	}
}

// TestEdited: a plan with an object that somebody has edited can be executed,
// needs no consent for what waits, and says how the conflict ends.
func TestEdited(t *testing.T) {
	p := edited(t, []put{{ccmConfig, "bootstrap/ccm/a.yaml", Provider, isEdited}, {ccmRole, "bootstrap/ccm/a.yaml", Provider, isThere}, {otherConfig, "bootstrap/other/a.yaml", Provider, isNew}})
	const want = `demo, Kubernetes: 1 to create, 1 in conflict, 2 waiting
provider:
  ! ConfigMap/ns/ccm  (fields of it are of kubectl-edit)
      data.x is of kubectl-edit
  + ConfigMap/other/other
  … ServiceAccount/ns/ccm  (until the conflict of ConfigMap/ns/ccm is over)
not in Git any more:
  … ConfigMap/ns/gone  (until the conflict of ConfigMap/ns/ccm is over)
`
	if p.String() != want {
		t.Errorf("the plan is\n%s\nwant\n%s", p, want)
	}
	if err := p.Problems(); err != nil || p.Refused() || p.InSync() || p.Check(p) != nil {
		t.Errorf("it cannot be executed: %v", err)
	}
	err := p.Edited()
	if diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "ConfigMap/ns/ccm: fields of it are of kubectl-edit\n  `talosgen takeover` gives the fields to talosgen") {
		t.Errorf("the error is %v", err)
	}
	if err := edited(t, nil).Edited(); err != nil {
		t.Errorf("nothing is edited: %v", err)
	}
}
