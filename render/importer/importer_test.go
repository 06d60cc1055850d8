package importer

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/casetest"
)

// TestImport imports the clusters of testdata. What is written is what a person would
// have written: it is reviewed there.
func TestImport(t *testing.T) {
	casetest.RunOne(t, "testdata/*.txtar", "written", func(t *testing.T, c casetest.Case) string {
		var made cluster
		if err := yaml.Unmarshal(c.First(), &made); err != nil {
			t.Fatal(err)
		}
		folder := made.machines(t, c.Texts)
		for name, text := range c.Texts {
			if file, ok := strings.CutPrefix(name, "folder/"); ok {
				folder[file] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		if made.From == Topf {
			likeTopf(t, folder)
		}
		o, check := Options{From: made.From}, Options{From: made.From, Check: true}
		r := repository(t)
		if report := mustImport(t, r, folder, check); report.Written || entries(t, r.Root(), "envs") != "" {
			t.Error("--check wrote something")
		}
		report := mustImport(t, r, folder, o)
		got := tree(t, r.Root(), report)
		if canary := strings.Index(got, "canary"); canary >= 0 {
			t.Errorf("a secret is in the clear: %s", got[canary:min(len(got), canary+40)])
		}
		before := tree(t, r.Root(), report) + entries(t, r.Root(), "envs/home")
		if again := mustImport(t, r, folder, o); again.Written || tree(t, r.Root(), report)+entries(t, r.Root(), "envs/home") != before {
			t.Error("a second import changes something")
		}
		made.compare(t, rendered(t, r), folder)
		return got
	})
}

// compare compares what is rendered with the folder.
func (c cluster) compare(t testing.TB, rendered map[string]string, folder fs.FS) {
	t.Helper()
	if len(rendered) != len(c.Nodes) {
		t.Errorf("%d nodes are rendered, want %d", len(rendered), len(c.Nodes))
	}
	for _, n := range c.Nodes {
		want, err := fs.ReadFile(folder, n.File)
		if err != nil {
			t.Fatal(err)
		}
		is := func(name string) bool {
			return name == strings.TrimSuffix(n.File, ".yaml") || strings.Contains(string(want), "hostname: "+name+"\n") || strings.Contains(string(want), "hostname: "+name+".")
		}
		if !slices.ContainsFunc(keysOf(rendered), is) {
			t.Errorf("%s is not rendered: %v", n.File, keysOf(rendered))
		}
		for name, text := range rendered {
			if is(name) {
				sameDocuments(t, name, text, string(want))
			}
		}
	}
}

func keysOf(m map[string]string) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// tree is what was written, but for what is encrypted: of that, the names.
func tree(t testing.TB, root string, report *Report) string {
	t.Helper()
	var out strings.Builder
	for _, name := range report.Files {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("== " + name + "\n")
		switch filepath.Base(name) {
		case "secrets.sops.yaml":
			_, variables, _ := strings.Cut(string(data), "\nvariables:\n")
			for line := range strings.Lines(variables) {
				if !strings.HasPrefix(line, " ") {
					break
				}
				name, _, _ := strings.Cut(line, ":")
				out.WriteString(name + "\n")
			}
		case "keyring.yaml":
		default:
			out.Write(data)
		}
	}
	for _, note := range report.Notes {
		out.WriteString("== note\n" + note + "\n")
	}
	return out.String()
}

// entries are the names in a directory.
func entries(t testing.TB, root, dir string) string {
	t.Helper()
	found, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range found {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
