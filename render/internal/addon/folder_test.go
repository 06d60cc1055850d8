package addon

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"text/tabwriter"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/talosgen/talosgen/internal/charttest"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/treecheck"
)

// kubernetes is the version that charts of the table are rendered for.
const kubernetes = "1.37.0"

// TestChartsFolder renders the charts in the directory that $TALOSGEN_CHARTS_DIR
// names, archives and directories, and prints a table: the objects of each, where
// they differ from those of Helm's own engine, what a check of them says, and how
// long it took. <name>.values.yaml beside a chart are its values. Without the
// variable, it does so for the charts in testdata/charts, each an archive of files
// whose end is what is expected: given.yaml are their values.
//
//	TALOSGEN_CHARTS_DIR=… go test ./render/internal/addon -run TestChartsFolder -v
func TestChartsFolder(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "chart\tobjects\tunlike Helm\talarms\ttime")
	if dir := os.Getenv("TALOSGEN_CHARTS_DIR"); dir != "" {
		chartsOfFolder(t, w, dir)
	} else {
		smallCharts(t, w)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", table.String())
}

// row is a chart of the table.
type row struct {
	objects  []manifest.Object
	warnings []Warning
	unlike   []string
	alarms   diag.List
	took     time.Duration
	err      error
}

func (r row) print(t *testing.T, w *tabwriter.Writer, name string) {
	t.Helper()
	if r.err != nil {
		first, _, _ := strings.Cut(r.err.Error(), "\n")
		fmt.Fprintf(w, "%s\t-\t-\t-\t%v\t%s\n", name, r.took.Round(time.Millisecond), first)
		return
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%v\n", name, len(r.objects), len(r.unlike), len(r.alarms), r.took.Round(time.Millisecond))
}

// chartsOfFolder is the table of real charts.
func chartsOfFolder(t *testing.T, w *tabwriter.Writer, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) != ".tgz" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, e.Name(), "Chart.yaml")); e.IsDir() && err != nil {
			continue // plain manifests
		}
		t.Run(e.Name(), func(t *testing.T) {
			name := strings.TrimSuffix(e.Name(), ".tgz")
			values := valuesIn(t, os.DirFS(dir), name+".values.yaml")
			r := tableRow(t, dir, e.Name(), helmInput{name: name, namespace: name, kubernetes: kubernetes, values: values})
			r.print(t, w, e.Name())
			for _, warning := range r.warnings {
				t.Logf("warning: %s", warning.Message)
			}
			for _, line := range r.unlike {
				t.Error(line)
			}
			for _, alarm := range r.alarms {
				t.Logf("alarm: %v", alarm)
			}
			if r.err != nil {
				t.Log(r.err)
			}
		})
	}
}

// smallCharts is the table of the charts in testdata/charts.
func smallCharts(t *testing.T, w *tabwriter.Writer) {
	files, err := filepath.Glob("testdata/charts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no charts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			unpackSmall(t, archive, filepath.Join(dir, "chart"))
			values := valuesIn(t, os.DirFS(filepath.Join(dir, "chart")), "given.yaml")
			in := helmInput{name: "web", namespace: "web", kubernetes: kubernetes, apis: []string{"gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v1/Gateway"}, values: values}
			r := tableRow(t, dir, "chart", in)
			r.print(t, w, filepath.Base(file))
			if r.err != nil {
				t.Fatal(r.err)
			}
			for _, line := range append(r.unlike, errorLines(r.alarms)...) {
				t.Error(line)
			}
			expectSmall(t, file, archive, r)
		})
	}
}

// unpackSmall writes a chart; the files of a directory that ends with .tgz are
// packed.
func unpackSmall(t *testing.T, archive *txtar.Archive, dir string) {
	packed := map[string]map[string]string{}
	write := func(name string, data []byte) { writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), data) }
	for _, f := range archive.Files {
		if before, inner, found := strings.Cut(f.Name, ".tgz/"); found {
			if packed[before] == nil {
				packed[before] = map[string]string{}
			}
			packed[before][inner] = string(f.Data)
		} else if f.Name != "want" {
			write(f.Name, f.Data)
		}
	}
	for name, files := range packed {
		write(name+".tgz", charttest.Pack(filepath.Base(name), files))
	}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// expectSmall compares the objects and warnings of a chart with the end of its
// archive.
func expectSmall(t *testing.T, file string, archive *txtar.Archive, r row) {
	var got strings.Builder
	for _, o := range r.objects {
		fmt.Fprintln(&got, o.ID())
	}
	for _, w := range r.warnings {
		fmt.Fprintf(&got, "warning: %s\n", w.Message)
	}
	last := len(archive.Files) - 1
	if *update {
		if archive.Files[last].Name != "want" {
			archive.Files = append(archive.Files, txtar.File{Name: "want"})
			last++
		}
		archive.Files[last].Data = []byte(got.String())
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := string(archive.Files[last].Data); got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func errorLines(list diag.List) (lines []string) {
	for _, p := range list {
		lines = append(lines, p.Error())
	}
	return lines
}

func valuesIn(t *testing.T, files fs.FS, name string) (values map[string]any) {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err == nil {
		err = yaml.Unmarshal(text, &values)
	} else if os.IsNotExist(err) {
		return map[string]any{}
	}
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// tableRow renders a chart twice, and with Helm, and checks it.
func tableRow(t *testing.T, dir, path string, in helmInput) (r row) {
	t.Helper()
	engine := Engine{Repository: os.DirFS(dir), Kubernetes: in.kubernetes, APIVersions: in.apis}
	a := catalogue.Addon{Name: in.name, Namespace: in.namespace, Origin: "addons." + in.name,
		Source: &catalogue.Source{Chart: &catalogue.Chart{Path: path}}}
	encoded := func() []byte {
		result, err := engine.Render(t.Context(), a, in.values)
		if err != nil {
			r.err = err
			return nil
		}
		r.objects, r.warnings = slices.Concat(result.CRDs, result.Objects), result.Warnings
		text, err := manifest.Encode(r.objects...)
		r.err = err
		return text
	}
	start := time.Now()
	text := encoded()
	r.took = time.Since(start)
	if r.err != nil {
		return r
	}
	if !bytes.Equal(text, encoded()) {
		t.Error("the second time gives something else")
	}
	in.path = filepath.Join(dir, path)
	helms, err := helmObjects(in)
	if err != nil {
		r.unlike = []string{"Helm refuses it: " + err.Error()}
	} else {
		r.unlike = unlikeHelm(t, r.objects, helms)
	}
	r.alarms, r.err = alarms(text, in)
	return r
}

// alarms is what a check says of objects in a directory.
func alarms(text []byte, in helmInput) (diag.List, error) {
	namespace := "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + in.namespace + "}\n"
	report, err := treecheck.Check(treecheck.Input{Dir: "tree", Kubernetes: cmp.Or(in.kubernetes, treecheck.Newest), Repository: fstest.MapFS{
		"tree/all.yaml": {Data: text}, "tree/namespace.yaml": {Data: []byte(namespace)},
	}})
	if err != nil {
		return nil, err
	}
	return report.Problems, nil
}
