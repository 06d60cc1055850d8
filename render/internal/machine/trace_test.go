package machine

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/talosgen/talosgen/internal/diag"
)

var update = flag.Bool("update", false, "write golden files")

// TestTrace compares the chains of layers of every value with a golden file.
func TestTrace(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/trace/layers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	options, err := OptionsPatch("envs/dev/cluster.yaml", NodeOptions{Hostname: at("dev-1", 7), Labels: OptionMap{"zone": at("options", 8)}}, Worker, "v1.13")
	if err != nil {
		t.Fatal(err)
	}
	patches := []*Patch{options}
	scope := testScope(map[string]string{"TOKEN": "not-a-real-token", "SAN": "e.example.org"}, "TOKEN")
	for i, f := range archive.Files {
		p, err := LoadPatch(Source{File: f.Name, Layer: fmt.Sprintf("layer %d", i+1), Data: f.Data}, LoadOptions{Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		patches = append(patches, p)
	}
	base := testBase(t, "v1.13", Worker)
	traced, err := Trace(base, patches)
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "testdata/trace/golden.txt", printTrace(traced, archive))

	cfg, _, err := base.Apply(patches)
	if err != nil {
		t.Fatal(err)
	}
	checkTrace(t, cfg, traced)
}

// printTrace prints the values that a layer had a say about, with the line of
// the file that did.
func printTrace(traced []Traced, archive *txtar.Archive) string {
	files := map[string][]string{}
	for _, f := range archive.Files {
		files[f.Name] = strings.Split(string(f.Data), "\n")
	}
	var b strings.Builder
	for _, v := range traced {
		if len(v.Origins) == 1 && v.Origins[0].Layer == GeneratedLayer {
			continue
		}
		fmt.Fprintf(&b, "%s %s = %s", v.Document, v.Leaf.Path, v.Leaf.Value)
		if v.Secret {
			b.WriteString(" (secret)")
		}
		b.WriteByte('\n')
		for _, o := range v.Origins {
			fmt.Fprintf(&b, "    %s = %s", strings.TrimSpace(o.Layer+" "+o.Pos.String()), o.Value)
			if o.Secret {
				b.WriteString(" (secret)")
			}
			if lines := files[o.Pos.File]; len(lines) >= o.Pos.Line && o.Pos.Line > 0 {
				fmt.Fprintf(&b, "    <- %s", strings.TrimSpace(lines[o.Pos.Line-1]))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// checkTrace checks what holds of every trace: it lists all leaves, in order,
// and the last layer of each is the one that set what is there.
func checkTrace(t *testing.T, cfg *Config, traced []Traced) {
	t.Helper()
	next := 0
	for _, d := range cfg.Documents() {
		leaves, err := d.Leaves()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leaves {
			v := traced[next]
			next++
			if v.Document != d.ID || v.Leaf.Path.String() != l.Path.String() || v.Leaf.Value != l.Value {
				t.Fatalf("%s %s is traced as %s %s", d.ID, l.Path, v.Document, v.Leaf.Path)
			}
			if len(v.Origins) == 0 {
				t.Fatalf("%s %s has no origin", d.ID, l.Path)
			}
			if last := v.Origins[len(v.Origins)-1]; last.Value != l.Value {
				t.Errorf("%s %s is %q, its last layer says %q", d.ID, l.Path, l.Value, last.Value)
			}
			for _, o := range v.Origins {
				if (o.Layer == GeneratedLayer) != (o.Pos == diag.Pos{}) {
					t.Errorf("%s %s: layer %q at %q", d.ID, l.Path, o.Layer, o.Pos)
				}
			}
		}
	}
	if next != len(traced) {
		t.Errorf("%d values are traced, %d are there", len(traced), next)
	}
}

// TestTraceOfRandomPatches checks the same for random patches.
func TestTraceOfRandomPatches(t *testing.T) {
	source := newComposeSource(t, 11)
	traces := 0
	for i := range 100 {
		c := source.next(t, i)
		patches := c.patches
		if c.options != nil {
			patches = append([]*Patch{c.options}, patches...)
		}
		traced, err := Trace(c.base, patches)
		cfg, _, applyErr := c.base.Apply(patches)
		if (err == nil) != (applyErr == nil) {
			t.Fatalf("case %d (%s): Trace says %v, Apply %v", i, c, err, applyErr)
		}
		if err == nil {
			traces++
			checkTrace(t, cfg, traced)
		}
	}
	if traces < 40 {
		t.Errorf("only %d of 100 cases could be traced", traces)
	}
}

func compareGolden(t *testing.T, file, have string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(have), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if have != string(want) {
		t.Errorf("%s differs (go test -update writes it); now it is\n%s", file, have)
	}
}
