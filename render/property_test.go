package render_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
)

// repositories are how many random repositories are tried.
const repositories = 80

// A random repository renders, or every problem has a place. What was rendered
// decrypts to what a naive composition gives, is the same when rendered again
// elsewhere, and shows no secret.
func TestRandomRepositories(t *testing.T) {
	template := markedRepo(t, "v1.13")
	rendered, refused := 0, 0
	for seed := range uint64(repositories) {
		faulty := seed%4 == 3
		g := newRandomRepo(seed, faulty)
		first, second := g.write(t, template), g.write(t, template)
		repo := first.open(operatorKeys()[0].private)
		res, err := repo.Render(context.Background(), "canary", render.Options{})
		where := fmt.Sprintf("seed %d", seed)
		if err != nil {
			refused++
			if !faulty {
				t.Errorf("%s: %v\n%s", where, err, g.show())
			}
			g.mustBePlaced(t, where, err)
			continue
		}
		rendered++
		if _, err := repo.Write(res); err != nil {
			t.Fatal(err)
		}
		g.mustBeNaive(t, where, repo, res)
		mustWrite(t, second.open(operatorKeys()[0].private), "canary")
		tree := readTree(t, filepath.Join(first.root, "rendered"))
		compareTrees(t, readTree(t, filepath.Join(second.root, "rendered")), tree)
		for name, text := range tree {
			mustHideSecrets(t, where+": "+name, text)
		}
		if t.Failed() {
			t.Fatalf("%s:\n%s", where, g.show())
		}
	}
	t.Logf("%d rendered, %d refused", rendered, refused)
	if rendered < repositories/2 || refused < repositories/10 {
		t.Errorf("%d rendered, %d refused: the test tries too little", rendered, refused)
	}
}

// write makes the repository, with the secrets of another.
func (g *randomRepo) write(t *testing.T, template *testRepo) *testRepo {
	t.Helper()
	r := newRepo(t)
	if err := os.CopyFS(r.root, os.DirFS(template.root)); err != nil {
		t.Fatal(err)
	}
	r.file("envs/canary/cluster.yaml", g.cluster)
	r.file("envs/canary/cluster.env", "PLAIN=plain-value\n")
	for name, text := range g.patches {
		if strings.HasSuffix(name, ".sops.yaml") {
			// Encrypted once, as the same files are in all clones of a repository.
			if _, done := g.encrypted[name]; !done {
				r.encrypted(name, text)
				g.encrypted[name] = readFile(t, r.root, name)
			}
			text = g.encrypted[name]
		}
		r.file(name, text)
	}
	return r
}

// show prints the repository.
func (g *randomRepo) show() string {
	text := g.cluster
	for _, name := range slices.Sorted(maps.Keys(g.patches)) {
		text += "-- " + name + " --\n" + g.patches[name]
	}
	return text
}

// mustBePlaced fails the test if a problem does not say where it is, or shows a
// secret.
func (g *randomRepo) mustBePlaced(t *testing.T, where string, err error) {
	t.Helper()
	for _, p := range problemsOf(err) {
		if p.Object == "" && (p.Pos.File == "" || p.Pos.Line == 0) {
			t.Errorf("%s: no place: %v\n%s", where, p, g.show())
		}
	}
	mustHidePrinted(t, where, err)
}

// mustBeNaive compares what was rendered with a naive composition.
func (g *randomRepo) mustBeNaive(t *testing.T, where string, repo *render.Repo, res *render.Result) {
	t.Helper()
	naive, err := repo.Naive("canary", func(n render.Node) []string { return g.filesOf(n.Role, n.Pool, n.Name) })
	if err != nil {
		t.Errorf("%s: naive: %v", where, err)
	}
	for _, n := range res.Nodes {
		shown, err := repo.Show(context.Background(), "canary", n.Name, true)
		if err != nil {
			t.Errorf("%s: %s: %v", where, n.Name, err)
			continue
		}
		got, want := byIdentity(t, values(t, string(shown))), byIdentity(t, values(t, strings.Join(naive[n.Name], "---\n")))
		for id := range want {
			for _, d := range unlike(id, got[id], want[id]) {
				t.Errorf("%s: %s: %s", where, n.Name, d)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %s: documents %v instead of %v", where, n.Name, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}

// unlike lists where two decoded documents differ.
func unlike(path string, got, want any) []string {
	g, ok := got.(map[string]any)
	w, ok2 := want.(map[string]any)
	if !ok || !ok2 {
		if reflect.DeepEqual(got, want) {
			return nil
		}
		return []string{fmt.Sprintf("%s is %#v instead of %#v", path, got, want)}
	}
	var all []string
	for key := range w {
		all = append(all, unlike(path+"."+key, g[key], w[key])...)
	}
	for key := range g {
		if _, ok := w[key]; !ok {
			all = append(all, path+"."+key+" should not be there")
		}
	}
	return all
}

// byIdentity sorts documents by what they are.
func byIdentity(t *testing.T, docs []any) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, d := range docs {
		m, ok := d.(map[string]any)
		if !ok {
			t.Fatalf("not a mapping: %v", d)
		}
		id := fmt.Sprint(m["kind"], "/", m["name"])
		if found[id] != nil {
			t.Errorf("%s is there twice", id)
		}
		found[id] = m
	}
	return found
}
