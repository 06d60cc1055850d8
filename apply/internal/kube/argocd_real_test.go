package kube

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// Paths of what Argo CD makes.
const (
	argoApps   = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/"
	inWeb      = "/api/v1/namespaces/web/"
	argoWeb    = inWeb + "configmaps/web"
	argoSpare  = inWeb + "configmaps/spare"
	argoRole   = "/apis/rbac.authorization.k8s.io/v1/clusterroles/web"
	argoServer = inWeb + "services/web"
)

// argoSettings is what an Argo CD needs that is there already.
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

// installArgoCD defines Argo CD's kinds, and tells it what its page says that one has to.
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
// test, with objects that the API server fills in.
func argoTree(t testing.TB, g *kubeenv.Git) tree {
	t.Helper()
	f := renderedCase(t, "argocd_existing")
	for name, text := range f {
		f[name] = strings.NewReplacer("https://git.example.com/clusters", g.URL, "namespace: gitops", "namespace: argocd", "!gitops", "!argocd", "prune: false", "prune: true").Replace(text)
	}
	delete(f, "bootstrap/argocd/secret-talosgen-git.yaml")
	f["bootstrap/web/secret-web.yaml"] = "{apiVersion: v1, kind: Secret, metadata: {name: web, namespace: web}, data: {password: c2VjcmV0}}\n"
	f["addons/apps/web/manifests.yaml"] += strings.Join([]string{"data:\n  value: first\n  removed: later\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: spare\n  namespace: web\n",
		"apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: web\nspec:\n  ports:\n  - port: 80\n",
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: web\nrules:\n- apiGroups:\n  - \"\"\n  resources:\n  - pods\n  verbs:\n  - get\n",
	}, "---\n")
	return f
}

// TestArgoCD hands over to the real application controller of Argo CD: what talosgen has
// made for it, of kinds that the API server fills in, it leaves as it is; apply waits
// until all Applications are healthy; what is changed in Git or in the cluster is as in
// Git, and what is gone from Git goes.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	kubeenv.ArgoDir(t)
	c, g := kubeenv.Start(t, kubeenv.Own()), kubeenv.NewGit(t)
	f := argoTree(t, g)
	f.commit(t, g)
	installArgoCD(t, c)
	r := newRun(t, c)
	r.waits.Stage = 3 * within

	// Everything that is Argo CD's, before it looks.
	seeds := f.read(t)
	seeds.Items = slices.DeleteFunc(seeds.Items, func(i kubeplan.Item) bool { return i.ID().Group == "argoproj.io" })
	for i := range seeds.Items {
		seeds.Items[i].Seed = true
	}
	p := r.plan(seeds, plan.Consent{})
	if err := errors.Join(p.Problems(), p.Edited(), r.execute(p)); err != nil {
		t.Fatal(err)
	}
	before := map[string]string{}
	for _, path := range []string{argoWeb, argoSpare, argoRole, argoServer, "/api/v1/namespaces/web"} {
		before[path] = version(kubeplan.Object(c.Get(t, path)))
	}

	c.StartArgoCD(t)
	r.apply(f, plan.Consent{})
	for _, name := range []string{"talosgen", "talosgen-crds", "talosgen-apps"} {
		if ready, text := Readiness(kubeplan.Object(c.Get(t, argoApps+name))); !ready {
			t.Errorf("apply has not waited for %s: %s", name, text)
		}
	}
	for path, was := range before {
		live := c.Get(t, path)
		if is := version(kubeplan.Object(live)); is != was {
			t.Errorf("%s is\n%s, was\n%s", path, is, was)
		}
		if got := owners(live); !slices.Equal(got, []string{kubeplan.ManagerArgoCD}) {
			t.Errorf("%s has fields of %q", path, got)
		}
	}
	r.inSync(f)
	argoKeeps(t, c, g, f)
	r.inSync(f)
}

// argoKeeps changes Git and the cluster, and waits for what Argo CD makes of that.
func argoKeeps(t testing.TB, c *kubeenv.Cluster, g *kubeenv.Git, f tree) {
	t.Helper()
	c.Patch(t, argoWeb, kubeenv.MergePatch, map[string]any{"data": map[string]any{"value": "edited"}})
	c.WaitFor(t, argoWeb, func(o kubeenv.Object) bool { return o.Text("data", "value") == "first" }, 2*within)

	text := strings.Replace(f["addons/apps/web/manifests.yaml"], "value: first\n  removed: later\n", "value: second\n", 1)
	parts := strings.Split(text, "---\n")
	f["addons/apps/web/manifests.yaml"] = strings.Join([]string{parts[0], parts[2]}, "---\n") // without the last object of a kind
	commit := f.commit(t, g)
	c.WaitFor(t, argoWeb, func(o kubeenv.Object) bool {
		return o.Text("data", "value") == "second" && o.Text("data", "removed") == ""
	}, 2*within)
	for _, path := range []string{argoSpare, argoRole} {
		c.WaitFor(t, path, func(o kubeenv.Object) bool { return o == nil }, 2*within)
	}
	for _, name := range []string{"talosgen", "talosgen-crds", "talosgen-apps"} {
		c.WaitFor(t, argoApps+name, func(o kubeenv.Object) bool {
			k := kubeplan.ReadApplication(kubeplan.Object(o))
			return k.Ready && k.Applied == commit
		}, 2*within)
	}
}
