package subst

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"
)

// TestExpandNode runs testdata/node/*.txtar: in.yaml becomes out.yaml or gives
// error.txt; secrets.txt lists the values that are marked secret, used.txt the
// names referred to.
func TestExpandNode(t *testing.T) {
	files, err := filepath.Glob("testdata/node/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			runNodeCase(t, parts)
		})
	}
}

func runNodeCase(t *testing.T, parts map[string]string) {
	doc := parse(t, parts["in.yaml"])
	before := encode(t, doc)
	got, err := ExpandNode(Source{File: "in.yaml", Secret: parts["encrypted"] != ""}, doc, testScope)
	if encode(t, doc) != before {
		t.Error("the document that went in was changed")
	}
	if want, ok := parts["error.txt"]; ok {
		if err == nil || err.Error()+"\n" != want {
			t.Errorf("got error\n%v\nwant\n%s", err, want)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := encode(t, got.Doc); out != parts["out.yaml"] {
		t.Errorf("got\n%s\nwant\n%s", out, parts["out.yaml"])
	}
	if secrets := strings.Join(secretValues(got), "\n"); secrets != strings.TrimSpace(parts["secrets.txt"]) {
		t.Errorf("marked secret:\n%s\nwant\n%s", secrets, parts["secrets.txt"])
	}
	if used, ok := parts["used.txt"]; ok && strings.Join(got.Used, "\n") != strings.TrimSpace(used) {
		t.Errorf("used %q, want %q", got.Used, used)
	}
}

// secretValues lists the marked scalars in document order.
func secretValues(e Expanded) []string {
	var values []string
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if e.Secret[n] {
			values = append(values, n.Value)
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(e.Doc)
	return values
}

func parse(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return &doc
}

func encode(t *testing.T, doc *yaml.Node) string {
	t.Helper()
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExpandNodeSharesWhatHasNoVariable(t *testing.T) {
	doc := parse(t, "a: {b: c}\nd: ${NAME}\n")
	got, err := ExpandNode(Source{File: "f"}, doc, testScope)
	if err != nil {
		t.Fatal(err)
	}
	if got.Doc == doc || got.Doc.Content[0].Content[1] != doc.Content[0].Content[1] {
		t.Error("what did not change was copied, or what changed was not")
	}
	plain := parse(t, "a: b\n")
	if got, _ := ExpandNode(Source{File: "f"}, plain, testScope); got.Doc != plain {
		t.Error("a document without variables was copied")
	}
}

func FuzzExpandNode(f *testing.F) {
	files, err := filepath.Glob("testdata/node/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Add([]byte("a: ${TOKEN}\n${NAME}: &x [${NAME}]\nb: *x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var doc yaml.Node
		if yaml.Unmarshal(data, &doc) != nil {
			return
		}
		got, err := ExpandNode(Source{File: "f"}, &doc, testScope)
		if bytes.Contains(data, []byte("CANARY")) {
			return
		}
		if err != nil && strings.Contains(err.Error(), "CANARY") {
			t.Errorf("the error shows a secret: %v", err)
		}
		if err == nil {
			checkMarked(t, got, got.Doc)
		}
	})
}

// checkMarked finds scalars that hold a secret and are not marked.
func checkMarked(t *testing.T, e Expanded, n *yaml.Node) {
	if strings.Contains(n.Value, "CANARY") && !e.Secret[n] {
		t.Errorf("%q is not marked secret", n.Value)
	}
	for _, c := range n.Content {
		checkMarked(t, e, c)
	}
}

func BenchmarkExpandNode(b *testing.B) {
	var doc yaml.Node
	text := "machine:\n  network:\n    hostname: ${NAME}\n  nodeLabels:\n" + strings.Repeat("    - a: {b: c, d: [1, 2]}\n", 20)
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := ExpandNode(Source{File: "f"}, &doc, testScope); err != nil {
			b.Fatal(err)
		}
	}
}
