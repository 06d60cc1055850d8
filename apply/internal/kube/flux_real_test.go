package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

const within = time.Minute

// handed are the objects that Flux is to own in a test, and what makes it look.
type handed struct {
	name string
	url  string // of the repository
	// Names that all objects have once each.
	variants []string
	shipped  []manifest.Object
	charts   bool // also what charts bring
}

// newHanded takes objects of every kind: those of everyKind, and all of the
// shipped environments.
func newHanded(t testing.TB, g *kubeenv.Git, name string, variants ...string) handed {
	return handed{name: name, url: g.URL, variants: variants, shipped: definable(shippedObjects(t))}
}

// objects are those of one variant, as they are at first, or later: then each
// has lost a field, a label and an annotation, and one of every kind is gone.
func (h handed) objects(t testing.TB, variant string, later bool) (objects []manifest.Object) {
	t.Helper()
	files := everyKind(variant)
	if h.charts {
		files["charts"] = chartKinds(variant)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		own, err := manifest.Parse(name, []byte(files[name]))
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, own...)
	}
	for _, o := range h.shipped {
		objects = append(objects, ofVariant(o, variant))
	}
	if later {
		return objects
	}
	for _, o := range firstOfEachKind(objects) {
		objects = append(objects, doomed(o))
	}
	for i, o := range objects {
		r, _ := removalOf(o)
		objects[i] = removal{"metadata.annotations.removed", "x"}.grown(removal{"metadata.labels.removed", "x"}.grown(r.grown(o)))
	}
	return objects
}

// firstOfEachKind has as many objects as there are kinds.
func firstOfEachKind(objects []manifest.Object) (first []manifest.Object) {
	seen := map[string]bool{}
	for _, o := range objects {
		if id := o.ID(); !seen[id.Kind+"."+id.Group] {
			seen[id.Kind+"."+id.Group] = true
			first = append(first, o)
		}
	}
	return first
}

// tree is what Git has, at first or later.
func (h handed) tree(t testing.TB, later bool) tree {
	t.Helper()
	in := "namespace: " + kubeenv.FluxNamespace
	var objects []manifest.Object
	for _, variant := range h.variants {
		objects = append(objects, h.objects(t, variant, later)...)
	}
	text, err := manifest.Encode(objects...)
	if err != nil {
		t.Fatal(err)
	}
	return tree{
		"flux/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [components.yaml, sources.yaml]\n",
		"flux/components.yaml":    string(text),
		"flux/sources.yaml": strings.Join([]string{
			"{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: " + h.name + ", " + in + "}, spec: {interval: 1h, url: '" + h.url + "', ref: {branch: main}}}",
			"{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: " + h.name + ", " + in + "}, spec: {interval: 1h, prune: true, path: ./rendered/dev/flux, sourceRef: {kind: GitRepository, name: " + h.name + "}}}",
		}, "\n---\n"),
	}
}

// sources reports whether an object is one of those that make Flux look.
func (h handed) sources(id kubeplan.ID) bool {
	return id.Namespace == kubeenv.FluxNamespace && id.Name == h.name
}

// untold is what a tree wants, without what makes Flux look.
func (h handed) untold(t testing.TB, f tree) kubeplan.Desired {
	t.Helper()
	desired := f.read(t)
	desired.Items = slices.DeleteFunc(desired.Items, func(i kubeplan.Item) bool { return h.sources(i.ID()) })
	return desired
}

// commit commits a tree where Flux looks for it.
func (f tree) commit(t testing.TB, g *kubeenv.Git) string {
	files := map[string]string{}
	for name, text := range f {
		files["rendered/dev/"+name] = text
	}
	return g.Commit(t, files)
}

// definable leaves out objects of kinds that operators define when they run:
// nothing runs here, and there is a custom resource among the rest.
func definable(objects []manifest.Object) []manifest.Object {
	return slices.DeleteFunc(objects, func(o manifest.Object) bool {
		group := o.ID().Group
		return group == "cilium.io" || group == "talos.dev"
	})
}

// version is the version of an object. Controllers write statuses: of objects
// that have one, it is the generation, and the fields that somebody applied.
func version(o kubeplan.Object) string {
	generation := o.Value("metadata", "generation")
	if generation == nil && o["status"] == nil {
		return o.Text("metadata", "resourceVersion")
	}
	var applied []any
	for _, e := range o.List("metadata", "managedFields") {
		if entry, ok := e.(map[string]any); ok && entry["operation"] == "Apply" {
			applied = append(applied, entry)
		}
	}
	text, err := json.Marshal(applied)
	return fmt.Sprintf("%v %s %v", generation, text, err)
}

// reconciled waits until Flux has applied a commit.
func reconciled(t testing.TB, c *kubeenv.Cluster, name, commit string) {
	t.Helper()
	reconciledAs(t, c, name, name, commit)
}

// reconciledAs is [reconciled] for a Kustomization of a repository.
func reconciledAs(t testing.TB, c *kubeenv.Cluster, repository, name, commit string) {
	t.Helper()
	path := func(kind, api, name string) string {
		return c.Path(t, "{apiVersion: "+api+", kind: "+kind+", metadata: {name: "+name+", namespace: "+kubeenv.FluxNamespace+"}}")
	}
	c.Reconcile(t, path("GitRepository", "source.toolkit.fluxcd.io/v1", repository))
	c.WaitFor(t, path("Kustomization", "kustomize.toolkit.fluxcd.io/v1", name), func(o kubeenv.Object) bool {
		return kubeenv.Ready(o) && strings.HasSuffix(o.Text("status", "lastAppliedRevision"), commit)
	}, within)
}

// TestFluxTakesOver makes what Flux will own, of every kind, before Flux looks:
// Flux has nothing to do then, nobody else owns fields, and what Git removes goes.
func TestFluxTakesOver(t *testing.T) {
	t.Parallel()
	c, g := kubeenv.Start(t, kubeenv.WithFlux()), kubeenv.NewGit(t)
	r := newRun(t, c)
	r.waits.Stage = within
	h := newHanded(t, g, "made-once", "made-once")
	h.charts = true
	r.makeUntold(h)
	r.handOver(c, g, h)
}

// leftovers are the ways in which others have made objects before.
var leftovers = []struct {
	variant string
	manager string
	update  bool // as a client that knows no server-side apply
	// What the program notes in the objects that it makes.
	annotations map[string]any
}{
	{"kubectl-client", "kubectl-client-side-apply", true, map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
	{"kubectl-server", "kubectl", false, nil},
	{"helm-three", "helm", true, map[string]any{"meta.helm.sh/release-name": "x", "meta.helm.sh/release-namespace": "y"}},
	{"helm-four", "helm", false, map[string]any{"meta.helm.sh/release-name": "x", "meta.helm.sh/release-namespace": "y"}},
	{"terraform", "Terraform", false, nil},
	{"older", "talosgen", false, nil},
}

// TestTakeover begins with objects of every kind that others made, by hand and by
// programs: after takeover they are Flux's alone, and what Git removes goes.
func TestTakeover(t *testing.T) {
	t.Parallel()
	c, g := kubeenv.Start(t, kubeenv.WithFlux()), kubeenv.NewGit(t)
	r := newRun(t, c)
	r.waits.Stage = within
	h := newHanded(t, g, "taken-over")
	h.shipped = firstOfEachKind(h.shipped)
	for _, l := range leftovers {
		h.variants = append(h.variants, l.variant)
	}
	r.asOthers(c, h)
	desired := h.untold(t, h.tree(t, false))
	p := kubeplan.Takeover(desired, r.observe(desired))
	if err := r.execute(p); err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	r.makeUntold(h)
	if p := kubeplan.Takeover(desired, r.observe(desired)); len(p.Changes()) > 0 {
		t.Errorf("there is something left to take over:\n%s", p)
	}
	r.handOver(c, g, h)
}

// makeUntold makes everything before Flux is told to look.
func (r *run) makeUntold(h handed) {
	r.t.Helper()
	p := r.plan(h.untold(r.t, h.tree(r.t, false)), plan.Consent{})
	if err := errors.Join(p.Problems(), p.Edited()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.execute(p); err != nil {
		r.t.Fatal(err)
	}
}

// handOver lets Flux look at what is there already: it changes nothing. From then
// on the objects are its own: what Git removes goes.
func (r *run) handOver(c *kubeenv.Cluster, g *kubeenv.Git, h handed) {
	r.t.Helper()
	first, later := h.tree(r.t, false), h.tree(r.t, true)
	desired := h.untold(r.t, first)
	before := r.observe(desired).Objects
	commit := first.commit(r.t, g)
	r.apply(first, plan.Consent{})
	reconciled(r.t, c, h.name, commit)

	after := r.observe(desired).Objects
	if len(after) != len(desired.Items) {
		r.t.Errorf("%d of %d objects are there", len(after), len(desired.Items))
	}
	r.unchanged(before, after, kubeplan.ManagerFlux)

	if p := r.plan(later.read(r.t), plan.Consent{}); len(p.Changes()) > 0 || p.Refused() || p.Edited() != nil || len(p.Warnings) > 0 {
		r.t.Errorf("talosgen would change what is Flux's:\n%s", p)
	}
	reconciled(r.t, c, h.name, later.commit(r.t, g))
	r.asInGit(later.read(r.t), r.observe(desired).Objects)
}

// unchanged fails for each object that an engine changed as it took over, or does not
// own alone.
func (r *run) unchanged(before, after map[kubeplan.ID]kubeplan.Object, manager string) {
	r.t.Helper()
	for id, o := range after {
		if version(o) != version(before[id]) {
			r.t.Errorf("%s was changed: %s, was %s", id, version(o), version(before[id]))
		}
		owned := false
		for _, e := range kubeplan.Entries(o) {
			if e.Operation == "Apply" && e.Subresource == "" && e.Manager != manager || foreign(e.Manager) {
				r.t.Errorf("%s has fields of %s", id, e.Manager)
			}
			owned = owned || e.Operation == "Apply" && e.Manager == manager
		}
		if !owned {
			r.t.Errorf("%s has no fields of %s", id, manager)
		}
		if left := doomedIn(o); len(left) < 3 {
			r.t.Errorf("%s never had what is to be removed, only %q", id, left)
		}
	}
}

// asInGit fails for each object that Git has no more, and for what it has no more of
// others.
func (r *run) asInGit(later kubeplan.Desired, live map[kubeplan.ID]kubeplan.Object) {
	r.t.Helper()
	stay := map[kubeplan.ID]bool{}
	for _, i := range later.Items {
		stay[i.ID()] = true
	}
	for id, o := range live {
		switch left := doomedIn(o); {
		case !stay[id] && o.Text("metadata", "deletionTimestamp") == "":
			r.t.Errorf("%s is still there", id)
		case stay[id] && len(left) > 0:
			r.t.Errorf("%s still has what Git has no more: %q", id, left)
		}
	}
}

// foreign reports whether a manager is one of the leftovers.
func foreign(manager string) bool {
	for _, l := range leftovers {
		if l.manager == manager {
			return true
		}
	}
	return false
}

// doomedIn is what an object has of all that Git removes.
func doomedIn(o kubeplan.Object) (left []string) {
	r, _ := removalOf(o)
	for _, r := range []removal{r, {"metadata.annotations.removed", "x"}, {"metadata.labels.removed", "x"}} {
		if r.in(o) {
			left = append(left, r.path)
		}
	}
	for _, l := range leftovers {
		for key := range l.annotations {
			if o.Map("metadata", "annotations")[key] != nil {
				left = append(left, key)
			}
		}
	}
	return left
}

// asOthers makes each variant as another program would have.
func (r *run) asOthers(c *kubeenv.Cluster, h handed) {
	r.t.Helper()
	for _, l := range leftovers {
		h.variants = []string{l.variant}
		items := h.untold(r.t, h.tree(r.t, false)).Items
		slices.SortStableFunc(items, func(a, b kubeplan.Item) int {
			return slices.Index(kubeplan.Stages(), a.Stage) - slices.Index(kubeplan.Stages(), b.Stage)
		})
		for _, item := range items {
			o := copied(item.Object)
			maps.Copy(o.Map("metadata", "annotations"), l.annotations)
			if !l.update {
				c.Apply(r.t, l.manager, true, document(r.t, o))
				continue
			}
			path := c.Path(r.t, document(r.t, o))
			collection := path[:strings.LastIndex(path, "/")]
			if status, answer := c.Do(r.t, "POST", collection+"?fieldManager="+l.manager, kubeenv.JSON, o); status >= 300 {
				r.t.Fatalf("%s: %d %s", path, status, answer.Text("message"))
			}
		}
	}
}
