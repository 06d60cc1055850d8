package kube

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// moved are the objects of an addon that moves, in a namespace of the test.
const moved = `{apiVersion: v1, kind: Namespace, metadata: {name: moving}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, namespace: moving}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: moving}, data: {w: two, x: one}}
---
{apiVersion: v1, kind: Secret, metadata: {name: web, namespace: moving}, stringData: {x: one}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: moving}, spec: {replicas: 0, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'example.org/web:1', args: [a, b]}]}}}}
`

// movingTree is a repository whose addon is talosgen's, or Flux's. Before there
// was Flux, nothing else is there.
func movingTree(url string, flux, moves bool) tree {
	f := tree{"bootstrap/ccm/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: moving-ccm, namespace: default}, data: {x: one}}"}
	resources := "other.yaml"
	if moves {
		f["addons/controllers/web.yaml"], resources = moved, "other.yaml, web.yaml"
	} else {
		f["bootstrap/web/manifests.yaml"] = moved
	}
	if !flux {
		return f
	}
	const in = "namespace: " + kubeenv.FluxNamespace
	kustomization := func(name, dir string) string {
		return "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: " + name + ", " + in +
			"}, spec: {interval: 1h, prune: true, path: ./rendered/dev/" + dir + ", sourceRef: {kind: GitRepository, name: moving}}}"
	}
	f["addons/controllers/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [" + resources + "]\n"
	f["addons/controllers/other.yaml"] = "{apiVersion: v1, kind: ConfigMap, metadata: {name: moving-other, namespace: default}, data: {x: one}}"
	f["flux/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [manifests.yaml]\n"
	f["flux/manifests.yaml"] = strings.Join([]string{
		"{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: moving, " + in + "}, spec: {interval: 1h, url: '" + url + "', ref: {branch: main}}}",
		kustomization("moving", "flux"), kustomization("moving-controllers", "addons/controllers"),
	}, "\n---\n")
	return f
}

// movingObjects are the ids of the objects, by which they are known to be the
// same ones, and everything that is not as their owner leaves it.
func (r *run) movingObjects(manager string) (uids map[kubeplan.ID]string) {
	r.t.Helper()
	uids = map[kubeplan.ID]string{}
	for id, o := range r.observe(movingTree("", false, false).read(r.t)).Objects {
		if id.Name == "moving-ccm" {
			continue
		}
		uids[id] = kubeplan.UID(o)
		for _, e := range kubeplan.Entries(o) {
			if e.Operation == "Apply" && e.Manager != manager {
				r.t.Errorf("%s has fields of %s, and is %s's", id, e.Manager, manager)
			}
		}
		labelled := o.Map("metadata", "labels")["kustomize.toolkit.fluxcd.io/name"] != nil
		if labelled != (manager == kubeplan.ManagerFlux) {
			r.t.Errorf("%s is %s's, and has the labels of Flux: %t", id, manager, labelled)
		}
	}
	return uids
}

// same fails unless the objects are those that were there before.
func (r *run) same(when string, before, after map[kubeplan.ID]string) {
	r.t.Helper()
	if len(before) != 5 || len(after) != 5 {
		r.t.Errorf("%s: %d objects, before %d", when, len(after), len(before))
	}
	for id, uid := range before {
		if after[id] != uid {
			r.t.Errorf("%s: %s was removed", when, id)
		}
	}
}

func actions(p *kubeplan.Plan, action kubeplan.Action) (n int) {
	for _, s := range p.Steps {
		if s.Action == action {
			n++
		}
	}
	return n
}

// TestMoveToFluxAndBack gives an addon that talosgen keeps to Flux, as happens
// when a cluster gets a repository, and takes it back. Its objects stay all the
// time: nobody removes them as what Git has no more.
func TestMoveToFluxAndBack(t *testing.T) {
	// Not in parallel: tests of one cluster have one inventory.
	c, g := kubeenv.Start(t, kubeenv.WithFlux()), kubeenv.NewGit(t)
	t.Cleanup(func() { forget(t, c) })
	r := newRun(t, c)
	r.waits.Stage = within
	r.apply(movingTree(g.URL, false, false), plan.Consent{})
	before := r.movingObjects(kubeplan.ManagerTalosgen)

	// To Flux.
	files := movingTree(g.URL, true, true)
	commit := files.commit(t, g)
	if p := r.apply(files, plan.Consent{}); actions(p, kubeplan.TransferOwnership) != 4 || actions(p, kubeplan.Delete) > 0 {
		t.Errorf("the plan is\n%s", p) // the ServiceAccount has no fields
	}
	reconciledAs(t, c, "moving", "moving-controllers", commit)
	r.same("Flux has it", before, r.movingObjects(kubeplan.ManagerFlux))
	r.inSync(files)
	files["addons/controllers/web.yaml"] = strings.NewReplacer("w: two, ", "", "[a, b]", "[a]").Replace(moved)
	reconciledAs(t, c, "moving", "moving-controllers", files.commit(t, g))
	if got := c.Get(t, "/api/v1/namespaces/moving/configmaps/web"); got.Text("data", "w") != "" || got.Text("data", "x") != "one" {
		t.Errorf("what Git has no more is still there: %v", got)
	}

	// Back: as long as Flux looks after it, both would.
	files = movingTree(g.URL, true, false)
	err := r.plan(files.read(t), plan.Consent{}).Problems()
	wants(t, err, "Kustomization flux-system/moving-controllers of Flux has it, and it is talosgen's in Git", "`flux suspend kustomization moving-controllers -n flux-system`", diag.Conflict)
	suspend := func(is bool) {
		c.Patch(t, c.Path(t, "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: moving-controllers, namespace: flux-system}}"),
			kubeenv.MergePatch, kubeenv.Object{"spec": map[string]any{"suspend": is}})
	}
	suspend(true)
	files["addons/controllers/web.yaml"] = "" // is removed
	commit = files.commit(t, g)
	delete(files, "addons/controllers/web.yaml")
	if p := r.apply(files, plan.Consent{}); actions(p, kubeplan.TransferOwnership) != 5 || actions(p, kubeplan.Delete) > 0 {
		t.Errorf("the plan is\n%s", p)
	}
	r.same("talosgen has it again", before, r.movingObjects(kubeplan.ManagerTalosgen))
	// Before it looks again, it must know what Git has now.
	c.Reconcile(t, c.Path(t, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: moving, namespace: flux-system}}"))
	suspend(false)
	reconciledAs(t, c, "moving", "moving-controllers", commit)
	r.same("Flux looks again", before, r.movingObjects(kubeplan.ManagerTalosgen))
	r.inSync(files)
}
