package upstream

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/catalogue/cataloguetest"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

var update = flag.Bool("update", false, "write the expected results")

// TestAgainstUpstream runs testdata/*.txtar, each named after an addon: the
// head names the chart, or the directory of plain manifests, and the version
// that the differences are those of; cluster.yaml has the options and values.yaml
// the same ones for the chart; differences.txt lists where what is built in differs from
// what the chart gives, and reasons.txt says why: a pattern for lines of that
// list, two spaces, and the reason. Each difference has one, and each reason a
// difference; those in testdata/reasons.txt are for all.
func TestAgainstUpstream(t *testing.T) {
	charts := chartsDir(t)
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	common, err := os.ReadFile("testdata/reasons.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string][]byte{}
			for _, f := range archive.Files {
				in[f.Name] = f.Data
			}
			chart := strings.Fields(string(archive.Comment))[0]
			got := differences(upstreamObjects(t, charts, name, chart, in["values.yaml"]), builtIn(t, name, in["cluster.yaml"]))
			checkReasons(t, got, string(common), string(in["reasons.txt"]))
			if text := strings.Join(got, "\n") + "\n"; text != string(in["differences.txt"]) {
				if !*update {
					t.Fatalf("the differences are others:\n%s", text)
				}
				archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "differences.txt" })
				archive.Files = append(archive.Files, txtar.File{Name: "differences.txt", Data: []byte(text)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// The values that the catalogue has for charts are ones that the charts know.
func TestValuesForCharts(t *testing.T) {
	charts := chartsDir(t)
	rendered := map[string]int{}
	files, err := filepath.Glob("../testdata/cases/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, problems := cataloguetest.Facts(t, archive.Files[0].Data)
		if problems != nil {
			continue
		}
		all, err := catalogue.Addons(f)
		if err != nil {
			continue // as its file says
		}
		for _, a := range all {
			if a.Source == nil || a.Source.Chart == nil || a.Values == nil || !has(charts, a.Source.Chart.Name) {
				continue
			}
			a.Source = &catalogue.Source{Chart: &catalogue.Chart{Path: a.Source.Chart.Name}}
			result, err := engine(charts).Render(context.Background(), a, a.Values)
			if err != nil || len(result.Warnings) > 0 || len(result.Objects) == 0 {
				t.Errorf("%s: %s: %d objects, %v %v", filepath.Base(file), a.Name, len(result.Objects), result.Warnings, err)
			}
			rendered[a.Name]++
		}
	}
	t.Logf("rendered: %v", rendered)
}

// chartsDir is where charts are, if somebody has them.
func chartsDir(t *testing.T) fs.FS {
	t.Helper()
	dir := os.Getenv("TALOSGEN_CHARTS_DIR")
	if dir == "" {
		t.Skip("TALOSGEN_CHARTS_DIR is not set: no charts to compare with")
	}
	return os.DirFS(dir)
}

func has(charts fs.FS, name string) bool {
	_, err := fs.Stat(charts, name)
	return err == nil
}

// isManifests tells whether a directory holds manifests instead of a chart.
func isManifests(charts fs.FS, name string) bool {
	info, err := fs.Stat(charts, name)
	return err == nil && info.IsDir() && !has(charts, path.Join(name, "Chart.yaml"))
}

func engine(charts fs.FS) *addon.Engine {
	return &addon.Engine{
		Repository: charts, Kubernetes: "1.36.3",
		Artifact: func(chartlock.Reference) (chartlock.Artifact, error) {
			return chartlock.Artifact{}, errors.New("charts come from the directory")
		},
	}
}

func upstreamObjects(t *testing.T, charts fs.FS, name, chart string, values []byte) []manifest.Object {
	t.Helper()
	if !has(charts, chart) {
		t.Skipf("the chart %s is not in TALOSGEN_CHARTS_DIR", chart)
	}
	var given map[string]any
	if err := yaml.Unmarshal(values, &given); err != nil {
		t.Fatal(err)
	}
	source := &catalogue.Source{Chart: &catalogue.Chart{Path: chart}}
	if isManifests(charts, chart) {
		source = &catalogue.Source{Path: chart}
	}
	result, err := engine(charts).Render(context.Background(), catalogue.Addon{
		Name: name, Namespace: "kube-system", Hooks: catalogue.DropHooks, Source: source,
	}, given)
	if err != nil {
		t.Fatal(err)
	}
	return append(result.Objects, result.CRDs...)
}

func builtIn(t *testing.T, name string, cluster []byte) []manifest.Object {
	t.Helper()
	f, err := cataloguetest.Facts(t, cluster)
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalogue.Addons(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Name == name {
			return a.Objects
		}
	}
	t.Fatalf("the cluster has no %s", name)
	return nil
}

// differences lists, object by object and leaf by leaf, what only upstream has
// (-), what only we have (+), and what is another value (~).
func differences(upstream, ours []manifest.Object) (lines []string) {
	theirs, mine := byID(upstream), byID(ours)
	ids := maps.Clone(theirs)
	maps.Copy(ids, mine)
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		switch t, m := theirs[id], mine[id]; {
		case m == nil:
			lines = append(lines, "- "+id)
		case t == nil:
			lines = append(lines, "+ "+id)
		default:
			lines = append(lines, compare(id, flatten(t), flatten(m))...)
		}
	}
	return lines
}

func byID(objects []manifest.Object) map[string]manifest.Object {
	all := map[string]manifest.Object{}
	for _, o := range objects {
		all[o.ID().String()] = o
	}
	return all
}

func compare(id string, theirs, mine map[string]string) (lines []string) {
	paths := maps.Clone(theirs)
	maps.Copy(paths, mine)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		t, inTheirs := theirs[path]
		m, inMine := mine[path]
		switch {
		case !inMine:
			if strings.Contains(path, "SECRET") {
				t = "…" // a sample of upstream's: nothing in this repository looks like a secret
			}
			lines = append(lines, fmt.Sprintf("- %s %s: %s", id, path, t))
		case !inTheirs:
			lines = append(lines, fmt.Sprintf("+ %s %s: %s", id, path, m))
		case t != m:
			lines = append(lines, fmt.Sprintf("~ %s %s: %s → %s", id, path, t, m))
		}
	}
	return lines
}

// checkReasons wants a reason for each difference, and a difference for each
// reason of its own.
func checkReasons(t *testing.T, lines []string, common, own string) {
	t.Helper()
	ownPatterns := patterns(t, own)
	all := slices.Concat(ownPatterns, patterns(t, common))
	used := map[string]bool{}
	for _, line := range lines {
		i := slices.IndexFunc(all, func(p string) bool { return regexp.MustCompile(p).MatchString(line) })
		if i < 0 {
			t.Errorf("no reason for: %s", line)
			continue
		}
		used[all[i]] = true
	}
	for _, p := range ownPatterns {
		if !used[p] {
			t.Errorf("reasons.txt: nothing differs by %s", p)
		}
	}
}

// patterns are those of a list of reasons.
func patterns(t *testing.T, text string) (all []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		pattern, reason, found := strings.Cut(strings.TrimSpace(line), "  ")
		if !found || strings.TrimSpace(reason) == "" {
			t.Fatalf("reasons.txt: no reason: %s", line)
		}
		all = append(all, pattern)
	}
	return all
}

// The comparison sees what differs, whatever the order.
func TestDifferences(t *testing.T) {
	read := func(text string) []manifest.Object {
		objects, err := manifest.Parse("a.yaml", bytes.TrimSpace([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}
	got := differences(read(`{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: x, image: w, env: [{name: A, value: b}, {name: B, value: c}], args: [one, two]}]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: gone}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{apiGroups: [""], resources: [a, b], verbs: [get]}]}
`), read(`{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: x, image: z, env: [{name: B, value: c}, {name: A, value: b}], args: [two, three]}]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: new}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{apiGroups: [""], resources: [b], verbs: [get, list]}]}
`))
	want := []string{
		"- Pod/a spec.containers[x].command[one]: there",
		"+ Pod/a spec.containers[x].command[three]: there",
		"~ Pod/a spec.containers[x].image: w → z",
		"- Role.rbac.authorization.k8s.io/r rules: /a get: allowed",
		"+ Role.rbac.authorization.k8s.io/r rules: /b list: allowed",
		"- Secret/gone",
		"+ Secret/new",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
