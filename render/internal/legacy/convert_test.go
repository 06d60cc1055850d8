package legacy

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden converts the patches of testdata. In each archive, "in.yaml" is
// the patch, "out.yaml" its conversion, "problems" what Convert reports and
// "conflicts" what Conflicts does. The comment may hold the words "all",
// "workers" and "hide" (options) and "invalid" (Talos does not take the result,
// as something stayed behind).
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) == 0 {
		t.Fatal("no archives")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(archive.Comment), "\n")
			words := strings.Fields(first)
			opts := Options{All: slices.Contains(words, "all"), Workers: slices.Contains(words, "workers"), HideValues: slices.Contains(words, "hide")}
			in := section(archive, "in.yaml")

			docs := parse(t, in)
			converted, problems := Convert("p.yaml", docs, opts)
			out := encode(t, converted)
			if got, want := encode(t, docs), encode(t, parse(t, in)); got != want {
				t.Errorf("the input was changed to\n%s", got)
			}
			got := &txtar.Archive{Comment: archive.Comment, Files: []txtar.File{
				{Name: "in.yaml", Data: []byte(in)},
				{Name: "out.yaml", Data: []byte(out)},
				{Name: "problems", Data: []byte(report(problems))},
				{Name: "conflicts", Data: []byte(report(Conflicts("p.yaml", docs, opts)))},
			}}
			compare(t, file, txtar.Format(got))
			checkOracle(t, out, slices.Contains(words, "invalid"))
			checkIdempotent(t, out, opts)
		})
	}
}

// checkOracle applies a conversion to a generated control plane.
func checkOracle(t *testing.T, out string, invalid bool) {
	t.Helper()
	// as substitution would
	text := strings.NewReplacer("${N}", "5", "${B}", "true", "${X}", "x", "${DISK}", "/dev/sda", "${CNI}", "none").Replace(out)
	cfg, err := apply(bases()[machine.TypeControlPlane], parse(t, text))
	if err == nil {
		err = validate(cfg)
	}
	if (err != nil) != invalid {
		t.Errorf("Talos says: %v", err)
	}
}

// checkIdempotent converts a conversion, which must change nothing.
func checkIdempotent(t *testing.T, out string, opts Options) {
	t.Helper()
	again, _ := Convert("p.yaml", parse(t, out), opts)
	if got := encode(t, again); got != out {
		t.Errorf("converted twice:\n%s\nonce:\n%s", got, out)
	}
}

func section(archive *txtar.Archive, name string) string {
	for _, f := range archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func report(problems []*diag.Problem) string {
	var out strings.Builder
	for _, p := range problems {
		out.WriteString(p.Error() + "\n")
	}
	return out.String()
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", file, got)
	}
}

func TestBareDocumentsGo(t *testing.T) {
	out, problems := Convert("p.yaml", parse(t, "version: v1alpha1\nmachine: {nodeLabels: {a: b}}\n"), Options{})
	if len(out) != 1 || isLegacy(content(out[0])) || len(problems) > 0 {
		t.Errorf("got %s, %v", encode(t, out), problems)
	}
}

// TestPlacesAreKept shows that what moved still knows where it came from.
func TestPlacesAreKept(t *testing.T) {
	out, _ := Convert("p.yaml", parse(t, "machine:\n  kubelet:\n    image: a:b\n"), Options{})
	for _, n := range content(out[0]).Content {
		if n.Line != 3 {
			t.Errorf("%s is at line %d, want 3", n.Value, n.Line)
		}
	}
}

func TestManifestNames(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"https://a.example/v1/CRDs.yaml", "a-example-v1-crds"},
		{"${URL}", "url"},
		{"https://", "manifest"},
		{"https://" + strings.Repeat("x", 100) + "/a.yml", strings.Repeat("x", 61) + "-a"},
	} {
		if got := ManifestName(tt.url); got != tt.want {
			t.Errorf("%s gives %q, want %q", tt.url, got, tt.want)
		}
	}
}

// TestRootsAreFine converts documents that are given without document nodes.
func TestRootsAreFine(t *testing.T) {
	docs := parse(t, "machine: {certSANs: [a], nodeLabels: {a: b}}")
	out, _ := Convert("p.yaml", []*yaml.Node{content(docs[0])}, Options{})
	want := "machine: {certSANs: [a]}\n---\napiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: {a: b}\n"
	if got := encode(t, out); got != want {
		t.Errorf("got\n%s", got)
	}
}
