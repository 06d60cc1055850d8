package kube

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// argoVariant is the namespace of what Argo CD runs in tests.
const argoVariant = "argo"

// Paths of what Argo CD makes, or waits for.
const (
	argoApps     = "/apis/argoproj.io/v1alpha1/namespaces/" + kubeenv.ArgoNamespace + "/applications/"
	argoProjects = "/apis/argoproj.io/v1alpha1/namespaces/" + kubeenv.ArgoNamespace + "/appprojects/"
	inArgo       = "/api/v1/namespaces/" + argoVariant
	argoBlocker  = inArgo + "/services/blocker"
	argoLate     = inArgo + "/configmaps/late"
)

// argoSettings are those of an Argo CD that is there already, before its page was read.
const argoSettings = `apiVersion: v1
kind: Secret
metadata: {name: argocd-secret, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
stringData: {server.secretkey: an-example-of-a-key}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
data:
`

// installArgoCD defines Argo CD's kinds, waits until the API serves them, and sets what
// its page says that one has to set.
func installArgoCD(t testing.TB, c *kubeenv.Cluster) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(kubeenv.ArgoDir(t), "crds", "*-crd.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c.Apply(t, "installer", true, string(text))
		c.WaitFor(t, c.Path(t, string(text)), func(o kubeenv.Object) bool {
			status, _ := o.Condition("Established")
			return status == "True"
		}, within)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to", "argocd.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, settings, found := strings.Cut(string(page), "```yaml\ndata:\n")
	settings, _, ended := strings.Cut(settings, "```")
	if !found || !ended {
		t.Fatal("the page has no settings")
	}
	c.Apply(t, "installer", true, append([]string{"{apiVersion: v1, kind: Namespace, metadata: {name: argocd}}"}, strings.Split(argoSettings+settings, "---\n")...)...)
}

// argoTree is what render writes for an Argo CD that is there, for a repository of a
// test, with objects of every kind. Wave 2 waits for the address of a Service, which
// nobody gives; wave 3 has one ConfigMap.
func argoTree(t testing.TB, g *kubeenv.Git, later bool) tree {
	t.Helper()
	f := renderedCase(t, "argocd_existing")
	for name, text := range f {
		f[name] = strings.NewReplacer("https://git.example.com/clusters", g.URL, "namespace: gitops", "namespace: argocd", "!gitops", "!argocd", "prune: false", "prune: true").Replace(text)
	}
	delete(f, "bootstrap/argocd/secret-talosgen-git.yaml")
	if !later {
		step := strings.NewReplacer("talosgen-apps\n", "talosgen-late\n", "addons/apps", "addons/late", `sync-wave: "2"`, `sync-wave: "3"`)
		for d := range strings.SplitSeq(f["argocd/manifests.yaml"], "---\n") {
			if strings.Contains(d, "\n  name: talosgen-apps\n") {
				f["argocd/manifests.yaml"] += "---\n" + step.Replace(d)
			}
		}
		f["addons/late/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [manifests.yaml]\n"
		f["addons/late/manifests.yaml"] = "{apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: " + argoVariant + "}}\n"
	}
	f["addons/apps/web/manifests.yaml"] = "{apiVersion: v1, kind: Service, metadata: {name: blocker, namespace: " + argoVariant + "}, spec: {type: LoadBalancer, ports: [{port: 80}]}}\n"
	f["addons/crds/namespaces.yaml"] = strings.Replace(f["addons/crds/namespaces.yaml"], "name: web", "name: "+argoVariant+"-empty", 1)
	for _, o := range argoObjects(t, later) {
		name := "addons/apps/web/manifests.yaml"
		switch {
		case o.IsSecret():
			name = "bootstrap/web/secret-" + o.Name() + ".yaml"
		case o.Kind() == "Namespace" || o.Kind() == "CustomResourceDefinition":
			name = "addons/crds/namespaces.yaml"
		}
		text, err := manifest.Encode(o)
		if err != nil {
			t.Fatal(err)
		}
		if f[name] != "" {
			f[name] += "---\n"
		}
		f[name] += string(text)
	}
	return f
}

// argoObjects are objects of every kind, of which each loses something later. Namespaces
// and definitions have the options by which they stay, as render writes them. There is no
// kubelet, so nobody is to wait for the rest. Secrets are talosgen's, and stay as they are.
func argoObjects(t testing.TB, later bool) (objects []manifest.Object) {
	t.Helper()
	h := handed{shipped: definable(shippedObjects(t)), charts: true}
	h.shipped = slices.DeleteFunc(h.shipped, func(o manifest.Object) bool { return strings.HasSuffix(o.ID().Group, ".fluxcd.io") })
	for _, o := range h.objects(t, argoVariant, later) {
		if o = copied(o); o.IsSecret() {
			continue
		}
		annotations := o.Map("metadata", "annotations")
		if annotations == nil {
			annotations = map[string]any{}
			o.Map("metadata")["annotations"] = annotations
		}
		if staysInCluster(o.ID()) {
			annotations["argocd.argoproj.io/sync-options"] = "Delete=false,Prune=false"
			annotations["argocd.argoproj.io/compare-options"] = "IgnoreExtraneous"
		} else {
			annotations["argocd.argoproj.io/ignore-healthcheck"] = "true"
		}
		objects = append(objects, o)
	}
	for _, o := range h.objects(t, argoVariant, false) {
		if o.IsSecret() {
			objects = append(objects, o)
		}
	}
	return objects
}

// staysInCluster reports whether an object stays when Git has it no more.
func staysInCluster(id manifest.ID) bool {
	return id.Kind == "Namespace" || id.Kind == "CustomResourceDefinition"
}

// ofArgo are the objects that Argo CD is to own, of those that argoObjects has, as if
// apply made them.
func ofArgo(desired kubeplan.Desired) kubeplan.Desired {
	desired.Items = slices.Clone(desired.Items)
	desired.Items = slices.DeleteFunc(desired.Items, func(i kubeplan.Item) bool {
		return i.Engine != kubeplan.EngineArgoCD || i.ID().Group == "argoproj.io" || doomedIn(i.Object) == nil
	})
	for i := range desired.Items {
		desired.Items[i].Seed = true
	}
	return desired
}

// ofItems are the living objects that are wanted, and no others.
func (r *run) ofItems(desired kubeplan.Desired) map[kubeplan.ID]kubeplan.Object {
	r.t.Helper()
	all, live := r.observe(desired).Objects, map[kubeplan.ID]kubeplan.Object{}
	for _, i := range desired.Items {
		if o := all[i.ID()]; o != nil {
			live[i.ID()] = o
		}
	}
	return live
}

// ofTalosgen are the versions of the Secrets, which fail the test if Argo CD knows them.
func ofTalosgen(t testing.TB, r *run, f tree) map[kubeplan.ID]string {
	t.Helper()
	versions := map[kubeplan.ID]string{}
	for id, o := range r.observe(f.read(t)).Objects {
		if id.Kind != "Secret" {
			continue
		}
		versions[id] = o.Text("metadata", "resourceVersion")
		if got := owners(kubeenv.Object(o)); !slices.Equal(got, []string{kubeplan.ManagerTalosgen}) || o.Map("metadata", "annotations")["argocd.argoproj.io/tracking-id"] != nil {
			t.Errorf("%s has fields of %q, and annotations %v", id, got, o.Map("metadata", "annotations"))
		}
	}
	if len(versions) == 0 {
		t.Error("there are no Secrets")
	}
	return versions
}

// TestArgoCD hands objects of every kind over to the real application controller of Argo
// CD, which changes none of them and then owns them alone; it makes one step after the
// other; apply waits for that. What is changed in the cluster or in Git is as in Git
// then, what is gone from Git goes, and Secrets are what they were.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	kubeenv.ArgoDir(t)
	c, g := kubeenv.Start(t, kubeenv.Own()), kubeenv.NewGit(t)
	first, later := argoTree(t, g, false), argoTree(t, g, true)
	first.commit(t, g)
	installArgoCD(t, c)
	r := newRun(t, c)
	r.waits.Stage = 3 * within

	// Everything that is to be Argo CD's, before it looks.
	desired := ofArgo(first.read(t))
	p := r.plan(desired, plan.Consent{})
	if err := errors.Join(p.Problems(), p.Edited(), r.execute(p)); err != nil {
		t.Fatal(err)
	}
	before := r.observe(desired).Objects
	c.StartArgoCD(t)
	r.inWaves(c, first)
	after := r.ofItems(desired)
	if len(after) != len(desired.Items) || len(after) < 40 {
		t.Errorf("%d of %d objects are there", len(after), len(desired.Items))
	}
	r.unchanged(before, after, kubeplan.ManagerArgoCD)
	secrets := ofTalosgen(t, r, first)
	r.inSync(first)

	argoHeals(t, c)
	argoSynced(t, c, later.commit(t, g), "talosgen", "talosgen-crds", "talosgen-apps")
	for _, path := range []string{argoLate, argoApps + "talosgen-late", argoProjects + "talosgen-late"} {
		c.WaitFor(t, path, func(o kubeenv.Object) bool { return o == nil }, within)
	}
	live := r.ofItems(desired)
	for _, i := range desired.Items {
		id := i.ID()
		if staysInCluster(id) && live[id] == nil {
			t.Errorf("%s is gone, and was to stay", id)
		}
		if staysInCluster(id) && strings.Contains(id.Name, "gone") {
			delete(live, id)
		}
	}
	r.asInGit(later.read(t), live)
	if now := ofTalosgen(t, r, first); !maps.Equal(now, secrets) {
		t.Errorf("Secrets were changed: %v, were %v", now, secrets)
	}
	r.inSync(later)
}

// inWaves applies a tree: Argo CD waits for the Service of wave 2, and apply for Argo CD.
func (r *run) inWaves(c *kubeenv.Cluster, f tree) {
	r.t.Helper()
	done := make(chan error, 1)
	go func() { done <- r.try(f) }()
	c.WaitFor(r.t, argoApps+"talosgen", func(o kubeenv.Object) bool {
		return strings.Contains(o.Text("status", "operationState", "message"), "waiting for healthy state of argoproj.io/Application/talosgen-apps")
	}, 2*within)
	c.WaitFor(r.t, argoApps+"talosgen-apps", func(o kubeenv.Object) bool {
		return o.Text("status", "sync", "status") == "Synced" && o.Text("status", "health", "status") == "Progressing"
	}, 2*within)
	select {
	case err := <-done:
		r.t.Errorf("apply has not waited: %v", err)
	default:
	}
	if late := c.Get(r.t, argoApps+"talosgen-late"); late != nil {
		r.t.Errorf("a wave began before the one before it was healthy: %v", late["status"])
	}
	giveAddress(r.t, c)
	if err := <-done; err != nil {
		r.t.Fatalf("%v\n%s", err, strings.Join(r.told, "\n"))
	}
	for _, name := range []string{"talosgen", "talosgen-crds", "talosgen-apps", "talosgen-late"} {
		if ready, text := Readiness(kubeplan.Object(c.Get(r.t, argoApps+name))); !ready {
			r.t.Errorf("apply has not waited for %s: %s", name, text)
		}
	}
	if got := owners(c.Get(r.t, argoLate)); !slices.Equal(got, []string{kubeplan.ManagerArgoCD}) {
		r.t.Errorf("what only Argo CD has made has fields of %q", got)
	}
}

// giveAddress gives the Service of wave 2 the address that it waits for.
func giveAddress(t testing.TB, c *kubeenv.Cluster) {
	t.Helper()
	c.Patch(t, argoBlocker+"/status", kubeenv.MergePatch, map[string]any{"status": map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "192.0.2.7"}}}}})
}

// argoHeals changes the cluster, and waits until Argo CD has set it back.
func argoHeals(t testing.TB, c *kubeenv.Cluster) {
	t.Helper()
	settings, replicas := inArgo+"/configmaps/config", "/apis/apps/v1/namespaces/"+argoVariant+"/deployments/operator"
	removed := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + argoVariant + "/roles/r"
	was := c.Get(t, removed).Text("metadata", "uid")
	c.Patch(t, settings, kubeenv.MergePatch, map[string]any{"data": map[string]any{"x": "edited"}})
	c.Patch(t, replicas, kubeenv.MergePatch, map[string]any{"spec": map[string]any{"replicas": 3}})
	c.Delete(t, removed)
	c.WaitFor(t, settings, func(o kubeenv.Object) bool { return o.Text("data", "x") == "1" }, 2*within)
	c.WaitFor(t, replicas, func(o kubeenv.Object) bool { return o["spec"].(map[string]any)["replicas"] == float64(0) }, 2*within)
	c.WaitFor(t, removed, func(o kubeenv.Object) bool { return o != nil && o.Text("metadata", "uid") != was }, 2*within)
}

// argoSynced waits until Applications have a commit, and are healthy.
func argoSynced(t testing.TB, c *kubeenv.Cluster, commit string, names ...string) {
	t.Helper()
	for _, name := range names {
		c.WaitFor(t, argoApps+name, func(o kubeenv.Object) bool {
			k := kubeplan.ReadApplication(kubeplan.Object(o))
			return k.Ready && k.Applied == commit
		}, 2*within)
	}
}
