package exporter

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// TestPlain: a plain export has each configuration as it was rendered, encrypted or in
// the clear.
func TestPlain(t *testing.T) {
	r := repository(t, shipped)
	access := secret.New("context: dev\ncontexts:\n    dev:\n        key: canary-key-of-the-client\n")
	closed, open := must(t, r, "dev", Options{To: Plain, Talosconfig: access}), must(t, r, "dev", Options{To: Plain, Talosconfig: access, Reveal: true})
	nodes, err := r.RenderedNodes("dev")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		committed, err := os.ReadFile(filepath.Join(shipped, "rendered", "dev", "nodes", node+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		shown, err := r.Show(context.Background(), "dev", node, true)
		if err != nil {
			t.Fatal(err)
		}
		if string(closed.Files[node+".yaml"]) != string(committed) || string(open.Files[node+".yaml"]) != string(shown) {
			t.Errorf("%s is not as it was rendered", node)
		}
	}
	for _, name := range []string{"secrets.sops.yaml", "talosconfig.sops.yaml"} {
		if data := closed.Files[name]; !sopsage.IsEncryptedYAML(data) || strings.Contains(string(data), "canary") {
			t.Errorf("%s is not encrypted", name)
		}
	}
	for _, name := range []string{"secrets.yaml", "talosconfig"} {
		if data := open.Files[name]; len(data) == 0 || sopsage.IsEncryptedYAML(data) {
			t.Errorf("%s is not in the clear", name)
		}
	}
	if len(closed.Files) != len(nodes)+2 || closed.Nodes != len(nodes) {
		t.Errorf("got %v", closed.Names())
	}
}

// TestRepository exports the examples to programs with a library that knows their
// contract. What is written is reviewed in testdata; that it leads to the same
// configurations is proven by each export before it is one.
func TestRepository(t *testing.T) {
	for _, to := range []string{Talhelper, Topf} {
		for _, env := range []string{"dev", "home", "talos-k8s"} {
			t.Run(to+"/"+env, func(t *testing.T) {
				e := must(t, repository(t, shipped), env, Options{To: to})
				golden(t, filepath.Join("testdata", env+"-"+to+".txt"), listing(e))
				for name, data := range e.Files {
					if encrypted := sopsage.IsEncryptedYAML(data); encrypted != (strings.HasSuffix(name, ".sops.yaml") && name != ".sops.yaml") {
						t.Errorf("%s: encrypted is %v", name, encrypted)
					}
				}
			})
		}
	}
}

// listing is what was exported, but for what is encrypted: of that, the names.
func listing(e *Export) string {
	var out strings.Builder
	for _, name := range e.Names() {
		out.WriteString("== " + name + "\n")
		if !sopsage.IsEncryptedYAML(e.Files[name]) {
			out.Write(e.Files[name])
		}
	}
	for _, note := range e.Notes {
		out.WriteString("note: " + note + "\n")
	}
	return out.String()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		write(t, file, []byte(got))
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what is exported; -update writes it. Got\n%s", file, got)
	}
}

// TestRefused: what cannot be exported is said, and nothing is.
func TestRefused(t *testing.T) {
	stale := edited(t, "dev", nil)
	write(t, filepath.Join(stale.Root(), "envs", "dev", "cluster.env"), []byte("CLUSTER_NAME=other\n"))
	for name, c := range map[string]struct {
		env  string
		to   string
		want string
	}{
		"kind":     {"dev", "kustomize", "nothing that an environment can be exported to"},
		"contract": {"prod", Topf, "contract v1.14, and topf 0.5 makes them up to v1.13"},
		"nothing":  {"nowhere", Plain, "does not exist"},
	} {
		if _, err := Make(context.Background(), repository(t, shipped), c.env, Options{To: c.to}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := Make(context.Background(), stale, "dev", Options{To: Plain}); err == nil || !strings.Contains(err.Error(), "is not up to date") {
		t.Errorf("got %v", err)
	}
}
