package kube

import (
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// editedTree has two addons.
func editedTree(value, last string) tree {
	configMap := func(name string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: edited}, data: {x: " + value + "}}"
	}
	return tree{
		"bootstrap/ccm/a.yaml":   "{apiVersion: v1, kind: Namespace, metadata: {name: edited}}\n---\n" + configMap("edited") + "\n---\n" + configMap("mate"),
		"bootstrap/other/a.yaml": configMap("other") + "\n---\n" + configMap(last),
	}
}

// TestEditedField: somebody edits a field of talosgen's, as kubectl does. What Git
// changes elsewhere is changed, and nothing that depends on the object. With the
// field given back, the rest follows.
func TestEditedField(t *testing.T) {
	c := kubeenv.Start(t)
	forget(t, c)
	r := newRun(t, c)
	r.apply(editedTree("one", "gone"), plan.Consent{})
	path := func(name string) string { return "/api/v1/namespaces/edited/configmaps/" + name }
	has := func(want map[string]string) {
		t.Helper()
		for name, value := range want {
			if got := c.Get(t, path(name)).Text("data", "x"); got != value {
				t.Errorf("%s has %q, want %q", name, got, value)
			}
		}
	}
	c.Patch(t, path("edited")+"?fieldManager=kubectl-edit", kubeenv.MergePatch, kubeenv.Object{"data": map[string]any{"x": "mine"}})

	files, policy := editedTree("two", "new"), plan.Consent{AllowDestroy: true}
	p := r.plan(files.read(t), policy)
	wants(t, p.Edited(), "ConfigMap/edited/edited: fields of it are of kubectl-edit", "`talosgen takeover` gives the fields to talosgen", diag.Conflict)
	if err := p.Problems(); err != nil {
		t.Fatal(err)
	}
	if err := r.execute(p); err != nil {
		t.Fatal(err)
	}
	has(map[string]string{"edited": "mine", "mate": "one", "other": "two", "new": "two", "gone": "one"})
	if left := r.plan(files.read(t), policy); left.Summary() != "1 in conflict, 2 waiting, 3 unchanged" {
		t.Errorf("then\n%s", left)
	}

	desired := files.read(t)
	back := kubeplan.Takeover(desired, r.observe(desired))
	if err := r.execute(back); err != nil || len(back.Changes()) != 1 {
		t.Fatalf("%v\n%s", err, back)
	}
	r.apply(files, policy)
	has(map[string]string{"edited": "two", "mate": "two"})
	if c.Get(t, path("gone")) != nil {
		t.Error("what Git has no more is still there")
	}
	r.inSync(files)
}

// TestEditedNotReady: what waits for the end of a conflict is there, and not ready.
// So what comes after its stage, and would need it, does not begin.
func TestEditedNotReady(t *testing.T) {
	c, r := faultRun(t, "edited-not-ready")
	const in = "namespace: edited-not-ready"
	web := func(value string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, " + in + "}, data: {x: " + value + "}}\n---\n" +
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, " + in + "}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'example.org/web:1', args: [" + value + "]}]}}}}"
	}
	c.Apply(t, kubeplan.ManagerTalosgen, false, web("one"))
	config := "/api/v1/namespaces/edited-not-ready/configmaps/"
	c.Patch(t, config+"web?fieldManager=kubectl-edit", kubeenv.MergePatch, kubeenv.Object{"data": map[string]any{"x": "mine"}})

	files := tree{
		"bootstrap/cilium/a.yaml": web("two"),
		"bootstrap/ccm/a.yaml":    "{apiVersion: v1, kind: ConfigMap, metadata: {name: later, " + in + "}}",
	}
	p := r.plan(files.read(t), plan.Consent{})
	if got := p.Summary(); got != "1 to create, 1 in conflict, 1 waiting" {
		t.Fatalf("the plan is\n%s", p)
	}
	wants(t, r.execute(p), "Deployment.apps/edited-not-ready/web: is not ready after 5s", "", diag.NotReady)
	if c.Get(t, config+"later") != nil {
		t.Error("the next stage has begun")
	}
}
