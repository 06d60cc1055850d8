package importer

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// home is a repository of the shape that people publish, and how its configurations are
// made of it.
type home struct {
	From, Dir, Env, Talosctl string
	Bundle                   string            // the file of the secrets
	Sops                     map[string]string // files that are encrypted, and the keys of what is in them
	Plain                    map[string]string // files for talosctl, which decrypts nothing
	Run                      []string          // command lines of talosctl and talhelper
	Nodes                    []string          // of the import
	Made                     map[string]string // the file of each node's configuration
}

// TestHomes imports the repositories of testdata/homes: what is rendered is what the real
// tools made of them, and what is written is reviewed there.
func TestHomes(t *testing.T) {
	casetest.RunOne(t, "testdata/homes/*.txtar", "written", func(t *testing.T, c casetest.Case) string {
		var h home
		if err := yaml.Unmarshal(c.First(), &h); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		h.write(t, dir, c.Texts)
		h.run(t, dir)
		if h.From == Topf {
			likeTopf(t, os.DirFS(dir))
		}
		r := repository(t)
		folder := os.DirFS(filepath.Join(dir, h.Dir))
		o := Options{From: h.From, Nodes: h.Nodes}
		report := mustImport(t, r, folder, o)
		got := tree(t, r.Root(), report)
		for _, secret := range []string{"canary", "GPbHCoqYSEr"} {
			if strings.Contains(got, secret) {
				t.Errorf("a secret is in the clear: %s", secret)
			}
		}
		if again := mustImport(t, r, folder, o); again.Written || tree(t, r.Root(), again) != strings.Split(got, "== note\n")[0] {
			t.Error("a second import changes something")
		}
		made := rendered(t, r)
		if len(made) != len(h.Made) {
			t.Errorf("%d nodes are rendered, want %d", len(made), len(h.Made))
		}
		for node, file := range h.Made {
			sameDocuments(t, node, made[node], readText(t, os.DirFS(dir), file))
		}
		return got
	})
}

// write lays the repository out.
func (h home) write(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	files := map[string]string{h.Bundle: parts()["bundle.yaml"]}
	for name, text := range texts {
		if name != "case" && name != "written" {
			files[name] = text
		}
	}
	for from, to := range h.Plain {
		files[to] = files[from]
	}
	for name, keys := range h.Sops {
		files[name] = string(encryptedFor(t, keys, files[name]))
	}
	writeFiles(t, dir, files)
}

// ageKey is the operator's.
var ageKey = regexp.MustCompile(`AGE-SECRET-KEY-1[0-9A-Z]+`)

// run makes the configurations.
func (h home) run(t *testing.T, dir string) {
	t.Helper()
	for _, line := range h.Run {
		args := strings.Fields(line)
		program := ""
		switch {
		case args[0] == "talhelper":
			program = toolenv.Talhelper(t)
		case h.Talosctl != "":
			program = toolenv.Talosctl(t, h.Talosctl)
		default:
			program = toolenv.Talosctl(t, "1.13")
		}
		cmd := exec.Command(program, args[1:]...)
		if cmd.Dir = dir; args[0] == "talhelper" {
			cmd.Dir = filepath.Join(dir, h.Dir)
		}
		cmd.Env = append(os.Environ(), "HOME="+dir, "SOPS_AGE_KEY="+ageKey.FindString(parts()["operator.agekey"]))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
}
