package kube

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/kubeplan"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

const within = 2 * time.Minute

// fluxTree is a tree whose flux/ has an object of every kind: what talosgen
// makes for Flux must be, of every kind, what Flux would make.
func fluxTree(name, url string) tree {
	in := "namespace: " + kubeenv.FluxNamespace
	files := everyKind(name)
	documents := files["bootstrap/cilium/manifests.yaml"] + "\n---\n" + files["bootstrap/hcloud-ccm/secret-hcloud.yaml"]
	return tree{
		"flux/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [components.yaml, sources.yaml]\n",
		"flux/components.yaml":    documents,
		"flux/sources.yaml": strings.Join([]string{
			"{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: " + name + ", " + in + "}, spec: {interval: 1h, url: '" + url + "', ref: {branch: main}}}",
			"{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: " + name + ", " + in + "}, spec: {interval: 1h, prune: true, path: ./rendered/dev/flux, sourceRef: {kind: GitRepository, name: " + name + "}}}",
		}, "\n---\n"),
	}
}

// commit commits a tree where Flux looks for it.
func (f tree) commit(t testing.TB, g *kubeenv.Git) string {
	files := map[string]string{}
	for name, text := range f {
		files["rendered/dev/"+name] = text
	}
	return g.Commit(t, files)
}

// versions are the versions of objects, and who applies them.
func (r *run) versions(f tree) (versions map[kubeplan.ID]string, appliers map[kubeplan.ID][]string) {
	r.t.Helper()
	versions, appliers = map[kubeplan.ID]string{}, map[kubeplan.ID][]string{}
	for id, o := range r.observe(f.read(r.t)).Objects {
		if strings.HasSuffix(id.Group, ".toolkit.fluxcd.io") {
			continue // Flux writes their statuses
		}
		versions[id] = o.Text("metadata", "resourceVersion")
		// Controllers write statuses; generation is what applies change.
		if generation, ok := o.Value("metadata", "generation").(int64); ok {
			versions[id] = string(rune('0' + generation))
		}
		for _, e := range kubeplan.Entries(o) {
			if e.Operation == "Apply" && !slices.Contains(appliers[id], e.Manager) {
				appliers[id] = append(appliers[id], e.Manager)
			}
		}
	}
	return versions, appliers
}

// reconciled waits until Flux has applied a commit.
func reconciled(t testing.TB, c *kubeenv.Cluster, f tree, name, commit string) {
	t.Helper()
	path := func(kind, api string) string {
		return c.Path(t, "{apiVersion: "+api+", kind: "+kind+", metadata: {name: "+name+", namespace: "+kubeenv.FluxNamespace+"}}")
	}
	c.Reconcile(t, path("GitRepository", "source.toolkit.fluxcd.io/v1"))
	c.WaitFor(t, path("Kustomization", "kustomize.toolkit.fluxcd.io/v1"), func(o kubeenv.Object) bool {
		return kubeenv.Ready(o) && strings.HasSuffix(o.Text("status", "lastAppliedRevision"), commit)
	}, within)
}

// without removes from a tree a label, a data key, an argument and an object.
func (f tree) without() tree {
	out := tree{}
	for name, text := range f {
		out[name] = strings.NewReplacer(
			"x: '1', ", "", ", annotations: {a.example/b: c}", "", ", network: net", "", "args: [a, b]", "args: [a]",
		).Replace(text)
	}
	documents := strings.Split(out["flux/components.yaml"], "\n---\n")
	out["flux/components.yaml"] = strings.Join(slices.DeleteFunc(documents, func(d string) bool {
		return strings.Contains(d, "kind: PodDisruptionBudget")
	}), "\n---\n")
	return out
}

// gone fails unless everything that [tree.without] removes is gone.
func (r *run) gone(before, after tree) {
	r.t.Helper()
	for id, o := range r.observe(before.read(r.t)).Objects {
		switch id.Kind {
		case "ConfigMap":
			if o.Text("data", "x") != "" || o.Map("metadata", "annotations")["a.example/b"] != nil {
				r.t.Errorf("%s still has what Git has no more: %v", id, o)
			}
		case "Secret":
			if o.Map("data")["network"] != nil {
				r.t.Errorf("%s still has a key that Git has no more", id)
			}
		case "DaemonSet":
			containers := o.List("spec", "template", "spec", "containers")
			container, _ := containers[0].(map[string]any)
			if args, _ := container["args"].([]any); len(args) != 1 {
				r.t.Errorf("%s has the arguments %v", id, args)
			}
		case "PodDisruptionBudget":
			r.t.Errorf("%s is still there", id)
		}
	}
}

// TestFluxTakesOver makes what Flux will own, of every kind, before Flux looks:
// Flux has nothing to do then, nobody else owns fields, and what Git removes goes.
func TestFluxTakesOver(t *testing.T) {
	t.Parallel()
	c, g := kubeenv.Start(t, kubeenv.WithFlux()), kubeenv.NewGit(t)
	r := newRun(t, c)
	files := fluxTree("made-once", g.URL)

	// Everything but what Flux looks at: Flux is told later.
	desired := files.read(t)
	p := r.plan(desired, plan.Policy{})
	desired.Items = slices.DeleteFunc(desired.Items, func(i kubeplan.Item) bool { return i.Stage == kubeplan.Sources })
	if err := r.execute(r.plan(desired, plan.Policy{})); err != nil {
		t.Fatal(err)
	}
	before, _ := r.versions(files)
	commit := files.commit(t, g)
	r.apply(files, plan.Policy{})
	reconciled(t, c, files, "made-once", commit)

	after, appliers := r.versions(files)
	if len(after) < 18 || len(p.Steps) < 20 {
		t.Errorf("only %d objects", len(after))
	}
	for id, version := range before {
		if after[id] != version {
			t.Errorf("Flux changed %s", id)
		}
		// What has no fields has no owner.
		if want := []string{kubeplan.ManagerFlux}; !slices.Equal(appliers[id], want) {
			t.Errorf("%s is applied by %q, want %q", id, appliers[id], want)
		}
	}

	// From now on they are Flux's alone.
	if p := r.plan(files.without().read(t), plan.Policy{}); len(p.Changes()) > 0 || p.Refused() || len(p.Warnings) > 0 {
		t.Errorf("talosgen would change what is Flux's:\n%s", p)
	}
	commit = files.without().commit(t, g)
	reconciled(t, c, files, "made-once", commit)
	r.gone(files, files.without())
}

// TestTakeover begins with objects that others made, by hand and by programs:
// after takeover they are Flux's, or talosgen's, alone.
func TestTakeover(t *testing.T) {
	t.Parallel()
	c, g := kubeenv.Start(t, kubeenv.WithFlux()), kubeenv.NewGit(t)
	r := newRun(t, c)
	for _, test := range []struct {
		name    string
		manager string
		update  bool // as a client that knows no server-side apply
	}{
		{"kubectl-client", "kubectl-client-side-apply", true},
		{"kubectl-server", "kubectl", false},
		{"helm-three", "helm", true},
		{"terraform", "Terraform", false},
		{"older", "talosgen", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &run{t: t, client: r.client}
			files := fluxTree(test.name, g.URL)
			r.asOther(c, files, test.manager, test.update)
			commit := files.commit(t, g)
			r.takeover(files)
			r.apply(files, plan.Policy{})
			reconciled(t, c, files, test.name, commit)
			if p := kubeplan.Takeover(files.read(t), r.observe(files.read(t))); len(p.Changes()) > 0 {
				t.Errorf("there is something left to take over:\n%s", p)
			}
			commit = files.without().commit(t, g)
			reconciled(t, c, files, test.name, commit)
			r.gone(files, files.without())
		})
	}
}

// takeover plans a take-over, and makes it.
func (r *run) takeover(f tree) *kubeplan.Plan {
	r.t.Helper()
	desired := f.read(r.t)
	p := kubeplan.Takeover(desired, r.observe(desired))
	if err := r.execute(p); err != nil {
		r.t.Fatalf("%v\n%s", err, p)
	}
	return p
}

// asOther makes the objects of a tree, besides those of Flux' own kinds, as
// somebody else would have.
func (r *run) asOther(c *kubeenv.Cluster, f tree, manager string, update bool) {
	r.t.Helper()
	items := f.read(r.t).Items
	slices.SortStableFunc(items, func(a, b kubeplan.Item) int {
		return slices.Index(kubeplan.Stages(), a.Stage) - slices.Index(kubeplan.Stages(), b.Stage)
	})
	for _, item := range items {
		if item.Stage == kubeplan.Sources {
			continue
		}
		path := c.Path(r.t, document(r.t, item.Object))
		if update {
			collection := path[:strings.LastIndex(path, "/")]
			if status, answer := c.Do(r.t, "POST", collection+"?fieldManager="+manager, kubeenv.JSON, item.Object); status >= 300 {
				r.t.Fatalf("%s: %d %s", path, status, answer.Text("message"))
			}
			continue
		}
		c.Apply(r.t, manager, true, document(r.t, item.Object))
	}
}
