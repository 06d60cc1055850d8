package importer

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/render/internal/machine"
)

// mutants is how many folders of each kind are changed at random: more at night.
func mutants() uint64 {
	if os.Getenv("TALOSGEN_TESTENV_NIGHTLY") == "1" {
		return 150
	}
	return 8
}

// TestMutated: whatever is changed in a folder, of each kind, an import writes nothing or
// an environment that renders to the configurations of the folder, and a second one writes
// nothing.
func TestMutated(t *testing.T) {
	for from, made := range sources(t) {
		t.Run(from, func(t *testing.T) {
			written := 0
			for seed := range mutants() {
				folder := maps.Clone(made)
				what := mutate(folder, rand.New(rand.NewPCG(seed, 5)))
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					if importsMutant(t, from, folder, what) {
						written++
					}
				})
			}
			if written == 0 {
				t.Error("none was imported")
			}
		})
	}
}

// sources are a small folder of each kind.
func sources(t *testing.T) map[string]fstest.MapFS {
	t.Helper()
	_, talhelper := talhelperFolder(t, strings.NewReplacer("${clusterName}", "attic", "$address", "10.0.0.11").Replace(twoNodes), "a")
	topf := fstest.MapFS{"topf.yaml": {Data: []byte("clusterName: attic\nnodes:\n  - {host: one, ip: 10.0.0.11}\n  - {host: two, ip: 10.0.0.12}\n")}}
	for _, host := range []string{"one", "two"} {
		topf["output/"+host+".yaml"] = talhelper["clusterconfig/attic-"+host+".yaml"]
	}
	topf["all/label.yaml"] = &fstest.MapFile{Data: []byte("machine:\n  nodeLabels:\n    example.com/zone: a\n")}
	return map[string]fstest.MapFS{Talosctl: newest(t), Talhelper: talhelper, Topf: topf, Layered: layeredFolder(nil)}
}

// mutate changes a line of a file: it goes, comes twice, or has another value. It returns
// what was done.
func mutate(folder fstest.MapFS, random *rand.Rand) string {
	names := slices.Sorted(maps.Keys(folder))
	name := names[random.IntN(len(names))]
	lines := strings.SplitAfter(string(folder[name].Data), "\n")
	at := random.IntN(len(lines))
	was := lines[at]
	switch key, value, found := strings.Cut(strings.TrimRight(was, "\n"), ": "); {
	case random.IntN(4) == 0:
		lines[at] = ""
	case random.IntN(4) == 0:
		lines[at] = was + was
	case found:
		others := []string{value + "x", "\"" + value + "\"", "true", "7", "10.0.0.99", "{}", "[]", "", "${HOME}", value + ".example.com"}
		lines[at] = key + ": " + others[random.IntN(len(others))] + "\n"
	default:
		lines[at] = was + "# more\n"
	}
	folder[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, ""))}
	return fmt.Sprintf("%s:%d: %q became %q", name, at+1, was, lines[at])
}

// importsMutant imports a folder, and reports whether something was written.
func importsMutant(t *testing.T, from string, folder fstest.MapFS, what string) bool {
	t.Helper()
	r := repository(t)
	o := Options{From: from, Dir: folder}
	report, err := Import(t.Context(), r, "home", o)
	if err != nil {
		if left := entries(t, r.Root(), "envs"); left != "" {
			t.Errorf("%s: it is refused, and wrote %s: %v", what, left, err)
		}
		return false
	}
	before := tree(t, r.Root(), report)
	made := rendered(t, r)
	if len(made) != report.Nodes {
		t.Errorf("%s: %d nodes are rendered, want %d", what, len(made), report.Nodes)
	}
	for node, text := range made {
		if file := configurationOf(folder, node); file != "" {
			sameDocuments(t, what+": "+node, canonical(t, text), canonical(t, readText(t, fs.FS(folder), file)))
		} else if from != Layered {
			t.Errorf("%s: there is no configuration of %s", what, node)
		}
	}
	again, err := Import(t.Context(), r, "home", o)
	if err != nil || again.Written || before != tree(t, r.Root(), report) {
		t.Errorf("%s: a second import writes: %v", what, err)
	}
	return report.Written
}

// configurationOf is the file of a node's configuration: it is called after it, or names it.
func configurationOf(folder fstest.MapFS, node string) string {
	for _, name := range slices.Sorted(maps.Keys(folder)) {
		if strings.Contains(name, "patches/") || strings.HasPrefix(name, "all/") {
			continue
		}
		if strings.HasSuffix(name, "/"+node+".yaml") || strings.HasSuffix(name, "-"+node+".yaml") || name == node+".yaml" ||
			strings.Contains(string(folder[name].Data), "\nhostname: "+node+"\n") {
			return name
		}
	}
	return ""
}

// canonical is a configuration as Talos writes it.
func canonical(t *testing.T, text string) string {
	t.Helper()
	c, err := machine.ReadConfig("config.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, d := range c.Documents() {
		data, err := d.Text()
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n" + string(data))
	}
	return out.String()
}
