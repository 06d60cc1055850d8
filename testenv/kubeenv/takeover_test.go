package kubeenv

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The field managers of talosgen, which applies first, and of Flux.
const (
	ours = "talosgen"
	flux = "kustomize-controller"
)

// takeover is a way to apply objects before Flux first does, and what comes of
// it. In every row the objects lose fields in git after Flux has taken over.
type takeover struct {
	name  string
	first func(*testing.T, *Cluster, row)
	after func(*testing.T, *Cluster, row) // Flux's first reconcile
	later string                          // field manager that applies the old objects again at the end

	managers  []string // of the objects after the takeover
	unchanged bool     // Flux had nothing to do
	stays     []string // what is still there although it was removed in git
}

// everything that is removed in git.
var everything = []string{"annotation", "args", "data", "env", "secret"}

// takeovers are what was measured with the real controllers. Rows with
// replaced do by hand what ssa.PatchReplaceFieldsManagers does, and rows with
// asFlux do what fluxcd/pkg/ssa does with Flux's owner, the owner's labels and
// normalize: the client library is not a part of this module.
var takeovers = []takeover{
	{name: "talosgen", first: applyAs(ours), managers: []string{flux, ours}, stays: everything},
	{name: "flux", first: applyAs("flux"), managers: []string{"flux", flux}, stays: everything},
	{name: "replaced-before", first: inOrder(applyAs(ours), replaced), managers: []string{flux}},
	{name: "replaced-after", first: applyAs(ours), after: replaced, managers: []string{flux}},
	{name: "given-up", first: applyAs(ours), after: giveUp, managers: []string{flux}},
	{name: "as-flux", first: asFlux(true), managers: []string{flux}, unchanged: true},
	{name: "string-data", first: asFlux(false), managers: []string{flux}, unchanged: true, stays: []string{"secret"}},
	{name: "late-as-flux", first: asFlux(true), managers: []string{flux}, unchanged: true, later: flux},
	{name: "late-as-talosgen", first: asFlux(true), managers: []string{flux}, unchanged: true, later: ours, stays: everything},
}

// TestTakeover runs all rows side by side in one repository.
func TestTakeover(t *testing.T) {
	t.Parallel()
	testTakeovers(t, Start(t, WithFlux()), takeovers)
}

// TestTakeoverOverridden is the row whose kustomize-controller runs with
// --override-manager=talosgen.
func TestTakeoverOverridden(t *testing.T) {
	t.Parallel()
	testTakeovers(t, Start(t, WithOverriddenManager(ours), WithoutControllerManager()), []takeover{
		{name: "overridden", first: applyAs(ours), managers: []string{flux}},
	})
}

func testTakeovers(t *testing.T, c *Cluster, takeovers []takeover) {
	g := NewGit(t)
	before, files := map[string][]Object{}, map[string]string{}

	for _, test := range takeovers {
		r := row(test.name)
		files[r.folder()+"/objects.yaml"] = r.objects("stringData", true, "")

		c.Apply(t, "test", false, "{apiVersion: v1, kind: Namespace, metadata: {name: "+r.namespace()+"}}")
		test.first(t, c, r)
		before[test.name] = r.live(t, c)
	}

	commit := g.Commit(t, files)
	c.Apply(t, "test", false, source("takeover", g))

	for _, test := range takeovers {
		c.Apply(t, "test", false, row(test.name).kustomization())
	}

	for _, test := range takeovers {
		r := row(test.name)
		c.WaitFor(t, r.path(t, c), applied(commit), within)

		if same := slices.Equal(versions(before[test.name]), versions(r.live(t, c))); same != test.unchanged {
			t.Errorf("%s: Flux had nothing to do: %t, want %t", test.name, same, test.unchanged)
		}

		if test.after != nil {
			test.after(t, c, r)
		}

		for _, object := range r.live(t, c) {
			if want := appliers(test.managers); !slices.Equal(object.Managers(), want) {
				t.Errorf("%s: the managers of %s are %q, want %q", test.name, object.Text("kind"), object.Managers(), want)
			}
		}

		if left := r.left(t, c); !slices.Equal(left, everything) {
			t.Errorf("%s: there is only %q before anything was removed", test.name, left)
		}

		files[r.folder()+"/objects.yaml"] = r.objects("stringData", false, "")
	}

	commit = g.Commit(t, files)
	c.Reconcile(t, c.Path(t, source("takeover", g)))

	for _, test := range takeovers {
		r := row(test.name)
		c.WaitFor(t, r.path(t, c), applied(commit), within)

		if test.later != "" {
			applyAs(test.later)(t, c, r)
			c.Reconcile(t, r.path(t, c))
		}

		if left := r.left(t, c); !slices.Equal(left, test.stays) {
			t.Errorf("%s: %q stays, want %q", test.name, left, test.stays)
		}
	}
}

func appliers(managers []string) []string {
	var all []string
	for _, manager := range managers {
		all = append(all, manager+" Apply")
	}

	return all
}

func versions(objects []Object) []string {
	var all []string
	for _, object := range objects {
		all = append(all, object.Version())
	}

	return all
}

// row names the objects of a row.
type row string

func (r row) namespace() string { return "takeover-" + string(r) }
func (r row) folder() string    { return "rows/" + string(r) }

func (r row) kustomization() string {
	return kustomization("takeover-"+string(r), "takeover", "./"+r.folder(), "")
}

func (r row) path(t *testing.T, c *Cluster) string { return c.Path(t, r.kustomization()) }

// objects are the row's objects as YAML, with the fields that are removed
// later or without them. A PodTemplate stands for all that has containers: no
// controller writes to it. A Secret's values are in data or stringData.
func (r row) objects(secret string, full bool, labels string) string {
	old, args, value := "", "", map[string]string{"data": "a2VlcA==", "stringData": "keep"}[secret]
	env := "{name: KEEP, value: keep}"
	removed := ""

	if full {
		old, args, env = ", removed: old", "args: [--removed], ", env+", {name: REMOVED, value: old}"
		removed = ", removed: " + map[string]string{"data": "b2xk", "stringData": "old"}[secret]
	}

	metadata := func(name string) string {
		return "metadata: {name: " + name + ", namespace: " + r.namespace() + ", labels: {" + labels + "}, annotations: {keep: keep" + old + "}}"
	}

	return strings.Join([]string{
		"{apiVersion: v1, kind: ConfigMap, " + metadata("settings") + ", data: {keep: keep" + old + "}}",
		"{apiVersion: v1, kind: Secret, " + metadata("credentials") + ", type: Opaque, " + secret + ": {keep: " + value + removed + "}}",
		"{apiVersion: v1, kind: PodTemplate, " + metadata("program") +
			", template: {spec: {containers: [{name: main, image: example.org/none, " + args + "env: [" + env + "]}]}}}",
	}, "\n---\n")
}

// live are the row's objects as they are.
func (r row) live(t *testing.T, c *Cluster) []Object {
	t.Helper()

	var all []Object

	objects, err := parse(r.objects("data", true, ""))
	if err != nil {
		t.Fatal(err)
	}

	for _, object := range objects {
		path, err := c.client.path(object)
		if err != nil {
			t.Fatal(err)
		}

		all = append(all, c.Get(t, path))
	}

	return all
}

// left is what is there of [everything].
func (r row) left(t *testing.T, c *Cluster) []string {
	t.Helper()

	var left []string

	note := func(is bool, what string) {
		if is && !slices.Contains(left, what) {
			left = append(left, what)
		}
	}

	for _, object := range r.live(t, c) {
		note(object.Text("metadata", "annotations", "removed") != "", "annotation")

		switch object.Text("kind") {
		case "ConfigMap":
			note(object.Text("data", "removed") != "", "data")
		case "Secret":
			note(object.Text("data", "removed") != "", "secret")
		case "PodTemplate":
			containers := object.List("template", "spec", "containers")
			container, _ := containers[0].(map[string]any)
			note(container["args"] != nil, "args")
			note(len(Object(container).List("env")) > 1, "env")
		}
	}

	slices.Sort(left)

	return left
}

// inOrder does one thing after the other.
func inOrder(steps ...func(*testing.T, *Cluster, row)) func(*testing.T, *Cluster, row) {
	return func(t *testing.T, c *Cluster, r row) {
		for _, step := range steps {
			step(t, c, r)
		}
	}
}

// applyAs applies the full objects as a field manager.
func applyAs(manager string) func(*testing.T, *Cluster, row) {
	return func(t *testing.T, c *Cluster, r row) { c.Apply(t, manager, true, r.objects("data", true, "")) }
}

// asFlux applies the objects as Flux would: as its manager, with the labels of
// the Kustomization that will own them, and, normalized, with a Secret's
// values in data.
func asFlux(normalized bool) func(*testing.T, *Cluster, row) {
	secret := "stringData"
	if normalized {
		secret = "data"
	}

	return func(t *testing.T, c *Cluster, r row) {
		labels := "kustomize.toolkit.fluxcd.io/name: takeover-" + string(r) + ", kustomize.toolkit.fluxcd.io/namespace: " + FluxNamespace
		c.Apply(t, flux, true, r.objects(secret, true, labels))
	}
}

// giveUp applies nothing but the objects' names, which gives all fields up.
func giveUp(t *testing.T, c *Cluster, r row) {
	for _, object := range r.live(t, c) {
		path, err := c.client.path(object)
		if err != nil {
			t.Fatal(err)
		}

		c.must(t, http.MethodPatch, path+applyQuery(ours, false), applyPatch, Object{
			"apiVersion": object["apiVersion"], "kind": object["kind"],
			"metadata": Object{"name": object.Text("metadata", "name"), "namespace": r.namespace()},
		})
	}
}

// replaced gives talosgen's fields to Flux.
func replaced(t *testing.T, c *Cluster, r row) {
	for _, object := range r.live(t, c) {
		path, err := c.client.path(object)
		if err != nil {
			t.Fatal(err)
		}

		var entry map[string]any

		for _, e := range object.List("metadata", "managedFields") {
			next, _ := e.(map[string]any)
			if entry != nil {
				union(Object(next).Map("fieldsV1"), Object(entry).Map("fieldsV1"))
			}

			entry = next
		}

		entry["manager"] = flux

		c.Patch(t, path, JSONPatch, []Object{
			{"op": "test", "path": "/metadata/resourceVersion", "value": object.Version()},
			{"op": "replace", "path": "/metadata/managedFields", "value": []any{entry}},
		})
	}
}

// union adds the fields of one set to another.
func union(to, from map[string]any) {
	for name, fields := range maps.All(from) {
		inner, isSet := to[name].(map[string]any)
		more, _ := fields.(map[string]any)

		if !isSet {
			to[name] = fields
			continue
		}

		union(inner, more)
	}
}
