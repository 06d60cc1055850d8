package kube

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/testenv/kubeenv"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// renderedCase is the tree that a case of what lays trees out leads to, which render
// writes.
func renderedCase(t testing.TB, name string) tree {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "..", "render", "internal", "gitops", "testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	f := tree{}
	for _, file := range archive.Files {
		if file.Name != "want.txt" {
			continue
		}
		for part := range strings.SplitSeq("\n"+string(file.Data), "\n## ") {
			head, text, _ := strings.Cut(part, "\n")
			if path, _, _ := strings.Cut(head, " "); path != "" {
				f[path] = strings.TrimSuffix(text, "\n") + "\n"
			}
		}
	}
	return f
}

// operatorTree is that of the Flux Operator, for a repository of a test, with the
// operator's own definitions.
func operatorTree(t testing.TB, c *kubeenv.Cluster, g *kubeenv.Git) tree {
	t.Helper()
	return operatorCase(t, c, g, "operator")
}

// operatorCase is that of a case.
func operatorCase(t testing.TB, c *kubeenv.Cluster, g *kubeenv.Git, name string) tree {
	t.Helper()
	f := renderedCase(t, name)
	components := strings.Split(f["flux/components.yaml"], "\n---\n")
	f["flux/components.yaml"] = strings.Join(append([]string{runnable(components[1])}, upstream(t, filepath.Join(c.OperatorDir(), "crds", "*.yaml"))...), "\n---\n")
	return f.inTest(t, g)
}

// managedTree is that of Flux itself: of what its release consists of, the controllers
// that run here.
func managedTree(t testing.TB, c *kubeenv.Cluster, g *kubeenv.Git) tree {
	t.Helper()
	f := renderedCase(t, "operator")
	delete(f, "bootstrap/flux/manifests.yaml")
	objects := manifests(t, "flux/manifests.yaml", f["flux/manifests.yaml"])
	i := slices.IndexFunc(objects, manifest.Object.IsFluxInstance)
	var own []manifest.Object
	for _, kind := range []string{"GitRepository", "Kustomization"} {
		api := map[string]string{"GitRepository": "source.toolkit.fluxcd.io/v1", "Kustomization": "kustomize.toolkit.fluxcd.io/v1"}[kind]
		own = append(own, manifest.Object{
			"apiVersion": api, "kind": kind, "metadata": map[string]any{"name": "talosgen", "namespace": kubeenv.FluxNamespace},
			"spec": specOf(t, objects[i], kind),
		})
	}
	text, err := manifest.Encode(append(own, slices.Delete(slices.Clone(objects), i, i+1)...)...)
	if err != nil {
		t.Fatal(err)
	}
	f["flux/manifests.yaml"] = string(text)
	components := []string{"{apiVersion: v1, kind: Namespace, metadata: {name: flux-system, labels: {app.kubernetes.io/part-of: flux}, annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}}"}
	for _, name := range []string{"source-controller", "kustomize-controller"} {
		components = append(components, upstream(t, filepath.Join(c.OperatorDir(), "data", "flux", "v2.9.4", name+".yaml"))...)
	}
	f["flux/components.yaml"] = strings.Join(components, "\n---\n")
	return f.inTest(t, g)
}

// upstream are the objects of files of others, as render would write them.
func upstream(t testing.TB, pattern string) (documents []string) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range manifests(t, name, string(text)) {
			if o.Namespace() == "" && o.Kind() != "CustomResourceDefinition" {
				o.Metadata()["namespace"] = kubeenv.FluxNamespace
			}
			annotations, _ := o.Metadata()["annotations"].(map[string]any)
			if annotations == nil {
				annotations = map[string]any{}
			}
			annotations["kustomize.toolkit.fluxcd.io/prune"] = "disabled"
			o.Metadata()["annotations"] = annotations
			documents = append(documents, document(t, o))
		}
	}
	return documents
}

func manifests(t testing.TB, name, text string) []manifest.Object {
	t.Helper()
	objects, err := manifest.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// runnable is a Deployment of a case, which has only what that is about.
func runnable(text string) string {
	return strings.NewReplacer(
		"spec:\n  template:\n", "spec:\n  selector:\n    matchLabels:\n      app: operator\n  template:\n    metadata:\n      labels:\n        app: operator\n",
		"- name: manager\n", "- name: manager\n        image: example.org/operator:1\n",
	).Replace(text)
}

// inTest is a tree for a repository that everyone may read, with a key that is one.
func (f tree) inTest(t testing.TB, g *kubeenv.Git) tree {
	t.Helper()
	key, err := exec.Command(toolenv.AgeKeygen(t)).Output()
	if err != nil {
		t.Fatal(err)
	}
	const login = "secretRef:\n              name: talosgen-git\n            "
	f["flux/manifests.yaml"] = strings.NewReplacer("https://git.example.com/clusters", g.URL, "            "+login, "            ", "    pullSecret: talosgen-git\n", "",
		"  secretRef:\n    name: talosgen-git\n", "",
		"spec:\n  distribution:\n", "spec:\n  components: [source-controller, kustomize-controller]\n  distribution:\n").Replace(f["flux/manifests.yaml"])
	f["bootstrap/flux/secret-sops-age.yaml"] = strings.Replace(f["bootstrap/flux/secret-sops-age.yaml"], "QUdFLVNFQ1JFVC1LRVktMQ==", base64.StdEncoding.EncodeToString(key), 1)
	delete(f, "flux/secret-talosgen-git.yaml")
	f["flux/kustomization.yaml"] = strings.Replace(f["flux/kustomization.yaml"], "- secret-talosgen-git.yaml\n", "", 1)
	f["addons/apps/web/manifests.yaml"] += "data:\n  value: first\n  removed: later\n"
	return f
}

// specOf is what a FluxInstance says that an object of a kind is to be like.
func specOf(t testing.TB, instance manifest.Object, kind string) map[string]any {
	t.Helper()
	for _, p := range manifest.Maps(manifest.Section(instance, "spec", "kustomize")["patches"]) {
		if manifest.Section(p, "target")["kind"] != kind {
			continue
		}
		var operations []map[string]any
		if err := yaml.Unmarshal([]byte(manifest.Text(p["patch"])), &operations); err != nil {
			t.Fatal(err)
		}
		return operations[0]["value"].(map[string]any)
	}
	t.Fatalf("there is no patch for a %s", kind)
	return nil
}

// Paths of what the operator makes.
const (
	inFlux       = "/namespaces/" + kubeenv.FluxNamespace
	instancePath = "/apis/fluxcd.controlplane.io/v1" + inFlux + "/fluxinstances/flux"
	sourcePath   = "/apis/source.toolkit.fluxcd.io/v1" + inFlux + "/gitrepositories/talosgen"
	rootPath     = "/apis/kustomize.toolkit.fluxcd.io/v1" + inFlux + "/kustomizations/talosgen"
	appsPath     = "/apis/kustomize.toolkit.fluxcd.io/v1" + inFlux + "/kustomizations/talosgen-apps"
	webPath      = "/api/v1" + inFlux + "/configmaps/web"
	kustomizePod = "/apis/apps/v1" + inFlux + "/deployments/kustomize-controller"
)

// madeByOperator are objects that the operator makes.
var madeByOperator = []string{
	sourcePath, rootPath, kustomizePod,
	"/apis/apps/v1" + inFlux + "/deployments/source-controller",
	"/api/v1" + inFlux + "/serviceaccounts/kustomize-controller",
	"/api/v1" + inFlux + "/services/source-controller",
	"/api/v1/namespaces/" + kubeenv.FluxNamespace,
	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/kustomizations.kustomize.toolkit.fluxcd.io",
	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gitrepositories.source.toolkit.fluxcd.io",
}

// owners are the managers that have applied fields of an object. Others note what they
// have done with it: finalizers, statuses, what the API server fills in. An empty spec,
// which every namespace has that is applied, is no field.
func owners(o kubeenv.Object) (names []string) {
	for i, e := range kubeplan.Entries(kubeplan.Object(o)) {
		if fields := o.List("metadata", "managedFields")[i].(map[string]any)["fieldsV1"]; reflect.DeepEqual(fields, map[string]any{"f:spec": map[string]any{}}) {
			continue
		}
		if e.Operation == "Apply" && e.Subresource == "" && !slices.Contains(names, e.Manager) {
			names = append(names, e.Manager)
		}
	}
	slices.Sort(names)
	return names
}

// ownedByOperator fails for each object that the operator makes and does not own alone.
func ownedByOperator(t testing.TB, c *kubeenv.Cluster) {
	t.Helper()
	for _, path := range madeByOperator {
		live := c.Get(t, path)
		if got := owners(live); !slices.Equal(got, []string{"flux-operator"}) {
			t.Errorf("%s has fields of %q: %v", path, got, live.List("metadata", "managedFields"))
		}
		if k := live.Map("metadata", "labels")["kustomize.toolkit.fluxcd.io/name"]; k != nil {
			t.Errorf("%s is a Kustomization's, %v", path, k)
		}
	}
}

// asRendered fails where what the operator makes is not what talosgen writes without it.
func asRendered(t testing.TB, c *kubeenv.Cluster, f tree) {
	t.Helper()
	objects := manifests(t, "flux/manifests.yaml", f["flux/manifests.yaml"])
	instance := objects[slices.IndexFunc(objects, manifest.Object.IsFluxInstance)]
	for kind, path := range map[string]string{"GitRepository": sourcePath, "Kustomization": rootPath} {
		live := c.Get(t, path).Map("spec")
		for key, want := range specOf(t, instance, kind) {
			if got := live[key]; !reflect.DeepEqual(got, want) {
				t.Errorf("spec.%s of the %s is %v, not %v", key, kind, got, want)
			}
		}
		for key, got := range live {
			if specOf(t, instance, kind)[key] == nil && !slices.Contains([]string{"timeout", "force"}, key) { // defaults of the API
				t.Errorf("the %s has spec.%s: %v, which the tree has not", kind, key, got)
			}
		}
	}
}

// TestFluxOperator lets the real Flux Operator install Flux: apply waits until the whole
// tree runs, everything has one owner, and what is committed later arrives.
func TestFluxOperator(t *testing.T) {
	t.Parallel()
	c, g := kubeenv.Start(t, kubeenv.WithFluxPods(), kubeenv.Own()), kubeenv.NewGit(t)
	f := operatorTree(t, c, g)
	f.commit(t, g)
	r := newRun(t, c)
	r.waits.Stage = 2 * within
	p := r.apply(f, plan.Consent{})
	if got := fmt.Sprint(p.Changes()); strings.Contains(got, "toolkit.fluxcd.io") && !strings.Contains(got, "fluxinstances") {
		t.Errorf("talosgen makes what the operator makes: %s", got)
	}
	if live := c.Get(t, instancePath); !kubeenv.Ready(live) {
		t.Errorf("apply has not waited for the FluxInstance: %v", live["status"])
	}
	if live := c.Get(t, appsPath); !kubeenv.Ready(live) || c.Get(t, webPath) == nil {
		t.Errorf("apply has not waited for what Flux runs: %v", live)
	}
	asRendered(t, c, f)
	ownedByOperator(t, c)
	desired := f.read(t)
	live := r.observe(desired).Objects
	for _, item := range desired.Items {
		if got := owners(kubeenv.Object(live[item.ID()])); item.Kustomization != "" && !slices.Equal(got, []string{kubeplan.ManagerFlux}) {
			t.Errorf("%s has fields of %q", item.ID(), got)
		}
	}
	r.inSync(f)

	f["addons/apps/web/manifests.yaml"] = strings.Replace(f["addons/apps/web/manifests.yaml"], "value: first\n  removed: later\n", "value: second\n", 1)
	f["flux/manifests.yaml"] = strings.Replace(f["flux/manifests.yaml"], "  distribution:\n", "  cluster:\n    size: large\n  distribution:\n", 1)
	f.commit(t, g)
	c.Reconcile(t, sourcePath)
	c.WaitFor(t, webPath, func(o kubeenv.Object) bool {
		return o.Text("data", "value") == "second" && o.Text("data", "removed") == ""
	}, within)
	c.WaitFor(t, kustomizePod, func(o kubeenv.Object) bool { return strings.Contains(fmt.Sprint(o), "--concurrent=20") }, within)
	c.WaitFor(t, instancePath, kubeenv.Ready, within)
	r.inSync(f)
}

// TestFluxOperatorStalls gives the real Flux Operator a release of Flux that there is not:
// apply says what the operator says, and does not wait until its time is over.
func TestFluxOperatorStalls(t *testing.T) {
	t.Parallel()
	c, g := kubeenv.Start(t, kubeenv.WithFluxPods(), kubeenv.Own()), kubeenv.NewGit(t)
	f := operatorTree(t, c, g)
	_, from, _ := strings.Cut(f["flux/manifests.yaml"], "  distribution:\n")
	from, _, _ = strings.Cut(from[strings.Index(from, "    version: "):], "\n")
	f["flux/manifests.yaml"] = strings.Replace(f["flux/manifests.yaml"], from, "    version: 9.9.9", 1)
	f.commit(t, g)
	r := newRun(t, c)
	r.waits.Stage = 100 * within
	err := r.try(f)
	wants(t, err, "FluxInstance.fluxcd.controlplane.io/flux-system/flux: will not become ready as it is: ", "9.9.9", diag.NotReady)
}

// uids are those of objects that must not be made again.
func uids(t testing.TB, c *kubeenv.Cluster) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range append([]string{appsPath, webPath}, madeByOperator...) {
		all[path] = c.Get(t, path).Text("metadata", "uid")
	}
	return all
}

// TestFluxOperatorTakesOver moves a running cluster from Flux' own components to the
// operator: nothing is removed, and nothing made again, whether Flux is told to wait or
// sees the commit first.
func TestFluxOperatorTakesOver(t *testing.T) {
	for _, suspend := range []bool{true, false} {
		t.Run(fmt.Sprintf("suspended %v", suspend), func(t *testing.T) {
			t.Parallel()
			c, g := kubeenv.Start(t, kubeenv.WithFluxPods(), kubeenv.Own()), kubeenv.NewGit(t)
			f := managedTree(t, c, g)
			f.commit(t, g)
			r := newRun(t, c)
			r.waits.Stage = 2 * within
			r.apply(f, plan.Consent{})
			c.WaitFor(t, webPath, kubeenv.Exists, within)
			before := uids(t, c)

			if suspend {
				c.Patch(t, rootPath, kubeenv.MergePatch, map[string]any{"spec": map[string]any{"suspend": true}})
			}
			f = operatorTree(t, c, g)
			commit := f.commit(t, g)
			if suspend {
				r.apply(f, plan.Consent{})
				c.Patch(t, rootPath, kubeenv.MergePatch, map[string]any{"spec": map[string]any{"suspend": nil}})
			}
			c.Reconcile(t, sourcePath)
			// It says so when it has removed what it removes.
			c.WaitFor(t, rootPath, func(o kubeenv.Object) bool {
				return kubeenv.Ready(o) && strings.HasSuffix(o.Text("status", "lastAppliedRevision"), commit)
			}, 2*within)
			c.WaitFor(t, instancePath, kubeenv.Ready, 2*within)
			for path, was := range before {
				if !suspend && (path == sourcePath || path == rootPath) {
					continue // Flux, which is not told to wait, removes these, and the operator makes them
				}
				if is := c.Get(t, path).Text("metadata", "uid"); is != was {
					t.Errorf("%s was made again: %s, was %s", path, is, was)
				}
			}
			asRendered(t, c, f)
			ownedByOperator(t, c)
			r.apply(f, plan.Consent{})
			r.inSync(f)
		})
	}
}
