package scaffold

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/internal/renovatetest"
)

// renovate reads the renovate.json of a new repository.
func renovate(t *testing.T) *renovatetest.Config {
	t.Helper()
	c, err := renovatetest.Parse([]byte(content(t, files(t, options("hetzner")), "renovate.json")))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func find(t *testing.T, texts map[string]string) []renovatetest.Dependency {
	t.Helper()
	found, err := renovate(t).Find(texts)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func lines(found []renovatetest.Dependency) string {
	var b strings.Builder
	for _, d := range found {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

// TestRenovateFinds: in repositories of many forms, what a case says is found. It is
// what a reader of YAML finds, and a newer version changes nothing else.
func TestRenovateFinds(t *testing.T) {
	casetest.RunOne(t, "testdata/renovate/*.txtar", "found.txt", func(t *testing.T, c casetest.Case) string {
		texts := map[string]string{}
		for name, text := range c.Texts {
			if name != "found.txt" {
				texts[name] = text
			}
		}
		found := find(t, texts)
		for name, text := range texts {
			if filepath.Ext(name) == ".yaml" && strings.HasPrefix(name, "envs/") {
				checkKnown(t, name, text, found)
			}
		}
		for _, d := range found {
			checkReplaced(t, texts, d)
		}
		return lines(found)
	})
}

// A new repository has the versions of Talos, Kubernetes and talosgen, and no other.
func TestRenovateFindsInNewRepositories(t *testing.T) {
	for _, provider := range Providers {
		for _, ci := range CIs {
			o := options(provider)
			o.CI, o.TalosVersion, o.KubernetesVersion = ci, "v1.14.1", "1.36.3"
			o.TalosgenDigest = strings.Repeat("0123456789abcdef", 4)
			texts := map[string]string{}
			for _, f := range files(t, o) {
				texts[f.Path] = string(f.Data)
			}
			want := "envs/dev/cluster.env: github-releases siderolabs/talos 1.14.1\nenvs/dev/cluster.env: github-releases kubernetes/kubernetes 1.36.3\n"
			const talosgen = ": github-release-attachments talosgen/talosgen v0.1.0 with 01234567\n"
			switch ci {
			case "github":
				want = ".github/workflows/talosgen-drift.yaml" + talosgen + ".github/workflows/talosgen-render.yaml" + talosgen + ".github/workflows/talosgen.yaml" + talosgen + want
			case "gitlab":
				want = ".gitlab-ci.yml" + talosgen + want
			}
			found := find(t, texts)
			if got := lines(found); got != want {
				t.Errorf("%s, %s: found\n%swant\n%s", provider, ci, got, want)
			}
			for _, d := range found {
				checkReplaced(t, texts, d)
			}
		}
	}
}

// In the examples of this repository too, what is found is what they have.
func TestRenovateFindsInExamples(t *testing.T) {
	texts := map[string]string{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, "envs", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		texts[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := find(t, texts)
	for name, text := range texts {
		if filepath.Base(name) == "cluster.yaml" {
			checkKnown(t, name, text, found)
		}
	}
	counts := map[string]int{}
	for _, d := range found {
		counts[strings.Split(d.File, "/")[1]+" "+d.DepName]++
		checkReplaced(t, texts, d)
	}
	for _, env := range []string{"dev", "home", "prod", "talos-k8s"} {
		for _, name := range []string{"siderolabs/talos", "kubernetes/kubernetes"} {
			if counts[env+" "+name] != 1 {
				t.Errorf("%s: %s is found %d times", env, name, counts[env+" "+name])
			}
		}
	}
	if len(found) != 8 {
		t.Errorf("found\n%s", lines(found))
	}
}

// In generated repositories too, what is found is what a reader of YAML finds, and
// comes to a newer version without another change.
func TestRenovateFindsInGenerated(t *testing.T) {
	replaced := 0
	for seed := range uint64(40) {
		texts := map[string]string{}
		for name, text := range generate.New(generate.Options{Seed: seed}).Files {
			texts[name] = string(text)
		}
		found := find(t, texts)
		for name, text := range texts {
			if filepath.Ext(name) == ".yaml" && strings.HasPrefix(name, "envs/") {
				checkKnown(t, name, text, found)
			}
		}
		for _, d := range found {
			checkReplaced(t, texts, d)
			replaced++
		}
	}
	if replaced < 40 {
		t.Errorf("only %d versions were found", replaced)
	}
}

// clusterYAML is what a reader of YAML knows of versions in a cluster.yaml.
type clusterYAML struct {
	Talos      struct{ Version string }
	Kubernetes struct{ Version string }
	Addons     map[string]struct {
		Version string
		Source  *struct {
			Chart     struct{ Repository, Name string }
			Manifests []struct{ URL, SHA256 string }
		}
	}
}

// checkKnown compares what was found in a cluster.yaml with what it has, but for
// what comments point at.
func checkKnown(t *testing.T, name, text string, found []renovatetest.Dependency) {
	t.Helper()
	var c clusterYAML
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	add := func(values ...string) {
		if version := values[len(values)-1]; version != "" && !strings.HasPrefix(version, "$") {
			want = append(want, strings.Join(values, " "))
		}
	}
	add("siderolabs/talos", "", strings.TrimPrefix(c.Talos.Version, "v"))
	add("kubernetes/kubernetes", "", strings.TrimPrefix(c.Kubernetes.Version, "v"))
	for addon, a := range c.Addons {
		switch {
		case a.Source == nil:
			add(addon, "talosgen-addon", a.Version)
		case a.Source.Chart.Repository != "":
			add(a.Source.Chart.Name, "", a.Version)
		}
		if a.Source != nil {
			for _, m := range a.Source.Manifests {
				if rest, ok := strings.CutPrefix(m.URL, "https://github.com/"); ok {
					parts := strings.Split(rest, "/")
					add(parts[0]+"/"+parts[1], "", parts[4])
				}
			}
		}
	}
	for _, d := range found {
		if d.File == name && !strings.Contains(text, "# renovate: datasource="+d.Datasource+" depName="+d.DepName+"\n") {
			got = append(got, strings.Join([]string{d.DepName, d.DepType, d.CurrentValue}, " "))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("%s: found\n%s\nwhat it has:\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkReplaced puts a newer version into the place of one that was found: that
// version changes, and its digest with it, and no other value.
func checkReplaced(t *testing.T, texts map[string]string, d renovatetest.Dependency) {
	t.Helper()
	const newer, digest = "99.98.97", "aaaabbbbccccddddeeeeffff00001111aaaabbbbccccddddeeeeffff00001111"
	value := newer
	if strings.HasPrefix(d.CurrentValue, "v") {
		value = "v" + newer
	}
	before := texts[d.File]
	after, err := d.Replace(before, value, digest)
	if err != nil {
		t.Error(err)
		return
	}
	found := find(t, map[string]string{d.File: after})
	if !slices.ContainsFunc(found, func(n renovatetest.Dependency) bool {
		return n.DepName == d.DepName && n.CurrentValue == value && (d.CurrentDigest == "" || n.CurrentDigest == digest)
	}) {
		t.Errorf("%s: replaced, and found\n%s", d, lines(found))
	}
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	if len(was) != len(is) {
		t.Fatalf("%s: it has other lines:\n%s", d, after)
	}
	changed := 0
	for i := range was {
		if was[i] == is[i] {
			continue
		}
		changed++
		if strings.NewReplacer(d.CurrentValue, value, cmp.Or(d.CurrentDigest, "no digest"), digest).Replace(was[i]) != is[i] {
			t.Errorf("%s: line %d became %q", d, i+1, is[i])
		}
	}
	if changed < 1 || changed > 2 || d.CurrentDigest == "" && changed > 1 {
		t.Errorf("%s: %d lines changed:\n%s", d, changed, after)
	}
}
