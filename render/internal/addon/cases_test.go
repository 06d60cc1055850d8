package addon

import (
	"bytes"
	"flag"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

var update = flag.Bool("update", false, "write what is expected into testdata/cases")

// TestMain silences Helm, as the program does: it logs to where all programs
// log, values included.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// settings are the file addon.yaml of a case.
type settings struct {
	Name, Namespace, Hooks, Kubernetes string
	Chart                              *catalogue.Chart
	Path                               string
	APIs                               []string `yaml:"apis"`
	Values                             map[string]any
	Manifests                          []catalogue.Remote
}

// TestCases renders the addons in testdata/cases. Each file holds a repository;
// addon.yaml in it says what to render; objects, crds, warnings and error at its
// end are what comes of it.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, file) })
	}
}

var outputs = []string{"error", "warnings", "crds", "objects"}

func runCase(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	repository, want := fstest.MapFS{}, map[string]string{}
	inputs := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if isOutput(f.Name) {
			want[f.Name] = string(f.Data)
			continue
		}
		repository[f.Name] = &fstest.MapFile{Data: f.Data}
		inputs.Files = append(inputs.Files, f)
	}
	got := render(t, repository)
	if *update {
		for _, name := range outputs {
			if got[name] != "" {
				inputs.Files = append(inputs.Files, txtar.File{Name: name, Data: []byte(got[name])})
			}
		}
		if err := os.WriteFile(file, txtar.Format(inputs), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, name := range outputs {
		if got[name] != want[name] {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got[name], want[name])
		}
	}
}

func isOutput(name string) bool {
	for _, o := range outputs {
		if o == name {
			return true
		}
	}
	return false
}

// render renders the addon of a case, as texts by the names of outputs.
func render(t *testing.T, repository fstest.MapFS) map[string]string {
	t.Helper()
	s := settings{Kubernetes: "1.37.1"}
	dec := yaml.NewDecoder(bytes.NewReader(repository["addon.yaml"].Data))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	engine := Engine{Repository: repository, Kubernetes: s.Kubernetes, APIVersions: s.APIs}
	engine.Artifact = func(r chartlock.Reference) (chartlock.Artifact, error) {
		data, err := fs.ReadFile(repository, filepath.Base(r.URL+r.Name))
		return chartlock.Artifact{Path: filepath.Base(r.URL + r.Name), Data: data}, err
	}
	source := &catalogue.Source{Chart: s.Chart, Path: s.Path, Manifests: s.Manifests}
	a := catalogue.Addon{Name: s.Name, Namespace: s.Namespace, Source: source, Hooks: catalogue.Hooks(s.Hooks), Origin: "addons." + s.Name}
	result, err := engine.Render(t.Context(), a, s.Values)
	if err != nil {
		return map[string]string{"error": err.Error() + "\n"}
	}
	var warnings strings.Builder
	for _, w := range result.Warnings {
		warnings.WriteString(strings.Join(w.Values, ".") + ": " + w.Message + "; " + w.Hint + "\n")
	}
	return map[string]string{"warnings": warnings.String(), "crds": text(t, result.CRDs), "objects": text(t, result.Objects)}
}

func text(t *testing.T, objects []manifest.Object) string {
	t.Helper()
	encoded, err := manifest.Encode(objects...)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
