package importer

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// layers is a folder of patches in layers, and how talosctl is called for it.
type layers struct {
	Env, Talosctl string
	Args          []string
	Options       []string
	Sops          []string            // files that are encrypted
	Nodes         map[string][]string // patches, in their order
}

// TestLayered imports the folders of testdata/layered. Nothing is added to them by hand,
// and what is rendered is what the real talosctl makes of them.
func TestLayered(t *testing.T) {
	casetest.RunOne(t, "testdata/layered/*.txtar", "written", func(t *testing.T, c casetest.Case) string {
		var l layers
		if err := yaml.Unmarshal(c.First(), &l); err != nil {
			t.Fatal(err)
		}
		r := repository(t)
		o := Options{From: Layered, Nodes: l.Options}
		folder := l.folder(t, c.Texts)
		o.Check = true
		if report := mustImport(t, r, folder, o); report.Written || entries(t, r.Root(), "envs") != "" {
			t.Error("--check wrote something")
		}
		o.Check = false
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
		if len(made) != len(l.Nodes) {
			t.Errorf("%d nodes are rendered, want %d", len(made), len(l.Nodes))
		}
		for name, patches := range l.Nodes {
			sameDocuments(t, name, made[name], l.talosctl(t, c.Texts, name, patches))
		}
		return got
	})
}

// folder is the folder of a case, with a bundle and what is encrypted.
func (l layers) folder(t *testing.T, texts map[string]string) fstest.MapFS {
	folder := fstest.MapFS{}
	for name, text := range texts {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	dir := "envs/" + l.Env
	if _, there := texts["patches/"+dir+"/cluster.env"]; there {
		dir = "patches/" + dir
	}
	folder[dir+"/secrets.yaml"] = &fstest.MapFile{Data: []byte(parts()["bundle.yaml"])}
	for _, file := range l.Sops {
		folder[file] = &fstest.MapFile{Data: encrypted(t, texts[file])}
	}
	return folder
}

// encrypted is a text, whose keys and passwords are encrypted by the real sops.
func encrypted(t *testing.T, text string) []byte {
	t.Helper()
	return encryptedFor(t, "^(privateKey|password)$", text)
}

// encryptedFor is a text, whose values of some keys are encrypted.
func encryptedFor(t *testing.T, keys, text string) []byte {
	t.Helper()
	recipient := regexp.MustCompile(`age1[0-9a-z]+`).FindString(parts()["repo/.sops.yaml"])
	cmd := exec.Command(toolenv.Sops(t), "encrypt", "--age", recipient, "--encrypted-regex", keys, "--input-type", "yaml", "--output-type", "yaml", "/dev/stdin")
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(text) // away from .sops.yaml
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("sops: %s", failed.Stderr)
		}
		t.Fatal(err)
	}
	return out
}

// talosctl is the configuration of a node as the real talosctl makes it.
func (l layers) talosctl(t *testing.T, texts map[string]string, node string, patches []string) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	role := "controlplane"
	if strings.Contains(patches[len(patches)-1], "worker") {
		role = "worker"
	}
	args := append([]string{"gen", "config", "--with-secrets", put("bundle.yaml", parts()["bundle.yaml"]), "--with-docs=false", "--with-examples=false", "-t", role, "-o", "-"}, l.Args...)
	values := map[string]string{"REGISTRY_HOST:-mirror.example.com": "mirror.example.com", "NODES_CIDR": "10.0.0.0/24", "REGISTRY_PASSWORD": "canary-pass-1234", "ROUTER": "192.168.1.1", "NODE_NAME": node}
	for i, p := range patches {
		text := os.Expand(texts[p], func(name string) string { return values[name] })
		args = append(args, "--config-patch", "@"+put(string(rune('a'+i))+".yaml", text))
	}
	cmd := exec.Command(toolenv.Talosctl(t, l.Talosctl), args...)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("talosctl: %s", failed.Stderr)
		}
		t.Fatal(err)
	}
	return string(out)
}
