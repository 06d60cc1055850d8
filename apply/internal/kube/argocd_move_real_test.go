package kube

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// ofFluxKinds are those by which Flux is told what to run.
var ofFluxKinds = map[string]string{"Kustomization": "kustomize.toolkit.fluxcd.io/v1", "GitRepository": "source.toolkit.fluxcd.io/v1"}

// ofFlux is an object of Flux, as text.
func ofFlux(kind, name, spec string) string {
	return fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s, namespace: %s}, spec: {%s}}", ofFluxKinds[kind], kind, name, kubeenv.FluxNamespace, spec)
}

// fluxTree has the objects of a tree of Argo CD as Flux would run them: Secrets are Flux's,
// too.
func fluxTree(argo tree, url string) tree {
	const resources = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: ["
	f, secrets := tree{}, "manifests.yaml"
	for name, text := range argo {
		switch {
		case strings.HasPrefix(name, "addons/") && !strings.HasPrefix(name, "addons/late/"):
			f[name] = text
		case strings.HasPrefix(name, "bootstrap/web/"):
			f["addons/apps/web/"+path.Base(name)] = text
			secrets += ", " + path.Base(name)
		}
	}
	runs := func(name, dir, more string) string {
		return ofFlux("Kustomization", name, "interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: talosgen}, path: ./rendered/dev/"+dir+more)
	}
	f["addons/apps/web/kustomization.yaml"] = resources + secrets + "]\n"
	f["flux/kustomization.yaml"] = resources + "manifests.yaml]\n"
	f["flux/manifests.yaml"] = strings.Join([]string{
		ofFlux("GitRepository", "talosgen", "interval: 1h, url: '"+url+"', ref: {branch: main}"),
		runs("talosgen", "flux", ""), runs("talosgen-crds", "addons/crds", ""), runs("talosgen-apps", "addons/apps", ", dependsOn: [{name: talosgen-crds}]"),
	}, "\n---\n")
	return f
}

// marks are what say that an object is the one that it was, and that nothing of it
// restarts: its id and its spec. The generation of a Deployment says less: it counts its
// annotations, too, one of which is Argo CD's.
func marks(t testing.TB, objects map[kubeplan.ID]kubeplan.Object) map[kubeplan.ID]string {
	t.Helper()
	all := map[kubeplan.ID]string{}
	for id, o := range objects {
		spec, err := json.Marshal(o["spec"])
		if err != nil {
			t.Fatal(err)
		}
		all[id] = kubeplan.UID(o) + " " + string(spec)
	}
	return all
}

// TestFluxToArgoCD follows the page of Argo CD from Flux to Argo CD, both of them real:
// no object is made again or told to restart, each is Argo CD's alone afterwards, and
// Secrets are talosgen's.
func TestFluxToArgoCD(t *testing.T) {
	t.Parallel()
	kubeenv.ArgoDir(t)
	c, g := kubeenv.Start(t, kubeenv.WithFlux(), kubeenv.Own()), kubeenv.NewGit(t)
	argo := argoTree(t, g, false)
	flux := fluxTree(argo, g.URL)
	commit := flux.commit(t, g)
	r := newRun(t, c)
	r.waits.Stage = 3 * within
	r.apply(flux, plan.Consent{})
	for _, name := range []string{"talosgen", "talosgen-crds", "talosgen-apps"} {
		reconciledAs(t, c, "talosgen", name, commit)
	}
	giveAddress(t, c)
	desired, secrets := ofArgo(argo.read(t)), secretsOf(argo.read(t))
	before, beforeSecrets := marks(t, r.ofItems(desired)), marks(t, r.ofItems(secrets))

	for _, name := range []string{"talosgen", "talosgen-crds", "talosgen-apps"} {
		c.Patch(t, c.Path(t, ofFlux("Kustomization", name, "")), kubeenv.MergePatch, map[string]any{"spec": map[string]any{"suspend": true}})
	}
	push(t, g, flux, argo)
	installArgoCD(t, c)
	c.StartArgoCD(t)
	if p := r.apply(argo, plan.Consent{}); p.Refused() {
		t.Errorf("the page does not say that this needs consent:\n%s", p)
	}
	all := argo.read(t)
	if p := kubeplan.Takeover(all, r.observe(all)); p.Problems() != nil {
		t.Errorf("it cannot be taken over:\n%s", p)
	} else if err := r.execute(p); err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	for kind := range ofFluxKinds {
		for _, name := range []string{"talosgen-apps", "talosgen-crds", "talosgen"} {
			if at := c.Path(t, ofFlux(kind, name, "")); c.Get(t, at) != nil {
				c.Delete(t, at)
				c.WaitFor(t, at, func(o kubeenv.Object) bool { return o == nil }, within)
			}
		}
	}

	for _, i := range desired.Items {
		c.WaitFor(t, c.Path(t, document(t, kubeplan.Object(i.Object))), onlyOf(kubeplan.ManagerArgoCD), 2*within)
	}
	for _, i := range secrets.Items {
		c.WaitFor(t, c.Path(t, document(t, kubeplan.Object(i.Object))), onlyOf(kubeplan.ManagerTalosgen), within)
	}
	if after := marks(t, r.ofItems(desired)); !maps.Equal(before, after) || len(after) < 40 {
		t.Errorf("objects were made again or restarted: %v", differ(before, after))
	}
	if after := marks(t, r.ofItems(secrets)); !maps.Equal(beforeSecrets, after) || len(after) == 0 {
		t.Errorf("Secrets were made again: %v", differ(beforeSecrets, after))
	}
	argoSynced(t, c, g.Commit(t, nil), "talosgen", "talosgen-crds", "talosgen-apps", "talosgen-late")
	r.inSync(argo)
}

// secretsOf are the Secrets that are talosgen's.
func secretsOf(desired kubeplan.Desired) kubeplan.Desired {
	desired.Items = slices.DeleteFunc(slices.Clone(desired.Items), func(i kubeplan.Item) bool { return i.ID().Kind != "Secret" })
	return desired
}

// push replaces a tree in Git by another one.
func push(t testing.TB, g *kubeenv.Git, before, now tree) {
	t.Helper()
	all := maps.Clone(now)
	for name := range before {
		if all[name] == "" {
			all[name] = "" // is removed
		}
	}
	all.commit(t, g)
}

// onlyOf reports whether a manager is the only one that has applied fields of an object,
// and Flux' labels are gone from it.
func onlyOf(manager string) func(kubeenv.Object) bool {
	return func(o kubeenv.Object) bool {
		_, labelled := kubeplan.Object(o).Map("metadata", "labels")["kustomize.toolkit.fluxcd.io/name"]
		return !labelled && reflect.DeepEqual(owners(o), []string{manager})
	}
}

// differ are the objects that are not what they were.
func differ(before, after map[kubeplan.ID]string) (texts []string) {
	for id, was := range before {
		if after[id] != was {
			texts = append(texts, fmt.Sprintf("%s: %s, was %s", id, after[id], was))
		}
	}
	return texts
}
