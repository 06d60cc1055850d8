package importer

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// parts are those of the file that tests start from: keys, and a bundle.
var parts = sync.OnceValue(func() map[string]string {
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "repo.txtar"))
	if err != nil {
		panic(err)
	}
	all := map[string]string{}
	for _, f := range archive.Files {
		all[f.Name] = string(f.Data)
	}
	return all
})

// repository is a new one, without environments.
func repository(t testing.TB) *render.Repo {
	t.Helper()
	return repositoryWith(t, "")
}

// repositoryWith is one whose operator has another key besides.
func repositoryWith(t testing.TB, key string) *render.Repo {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "envs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".sops.yaml"), []byte(parts()["repo/.sops.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := render.Open(root, render.Process{
		Keys: sopsage.Env{
			Lookup: func(name string) (string, bool) {
				return parts()["operator.agekey"] + "\n" + key, name == "SOPS_AGE_KEY"
			},
			ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		},
		Now:    func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) },
		Random: rand.NewChaCha8([32]byte{1}), Masker: secret.NewMasker(), Version: "0.0.0",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// cluster is one that was made by `talosctl gen config` with patches.
type cluster struct {
	From, Contract, Talos, Kubernetes, Endpoint string
	Nodes                                       []struct {
		File    string
		Role    machine.Role
		Patches []string
	}
}

// machines makes the configurations of a cluster.
func (c cluster) machines(t testing.TB, patches map[string]string) fstest.MapFS {
	t.Helper()
	folder := fstest.MapFS{}
	for _, n := range c.Nodes {
		folder[n.File] = &fstest.MapFile{Data: c.machine(t, n.Role, n.Patches, patches)}
	}
	return folder
}

func (c cluster) machine(t testing.TB, role machine.Role, names []string, texts map[string]string) []byte {
	t.Helper()
	bundle, err := machine.ParseBundle([]byte(parts()["bundle.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := machine.Generate(machine.Settings{
		ClusterName: "attic", Endpoint: c.Endpoint, Contract: c.Contract, KubernetesVersion: c.Kubernetes,
		InstallDisk: "/dev/sda", InstallImage: "ghcr.io/siderolabs/installer:" + c.Talos,
	}, role, bundle, bundle)
	if err != nil {
		t.Fatal(err)
	}
	var patches []*machine.Patch
	for _, name := range names {
		text, there := texts[name]
		if !there {
			t.Fatalf("there is no patch %s", name)
		}
		p, err := machine.LoadPatch(machine.Source{File: name, Data: []byte(text)}, machine.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		patches = append(patches, p)
	}
	if cfg, _, err = cfg.Apply(patches); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for i, d := range cfg.Documents() {
		text, err := d.Text()
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes()
}

// mustImport imports a folder, and fails the test with what stands in the way.
func mustImport(t testing.TB, r *render.Repo, folder fs.FS, o Options) *Report {
	t.Helper()
	o.Dir = folder
	if o.From == "" {
		o.From = Talosctl
	}
	report, err := Import(context.Background(), r, "home", o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// rendered renders what was imported, as users do, and returns the configurations in
// the clear.
func rendered(t testing.TB, r *render.Repo) map[string]string {
	t.Helper()
	res, err := r.Render(context.Background(), "home", render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(res); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, n := range res.Nodes {
		text, err := r.Show(context.Background(), "home", n.Name, true)
		if err != nil {
			t.Fatal(err)
		}
		texts[n.Name] = string(text)
	}
	return texts
}

// sameDocuments compares configurations by what a parser of YAML makes of them.
func sameDocuments(t testing.TB, name, got, want string) {
	t.Helper()
	a, b := documents(t, got), documents(t, want)
	for id := range b {
		if a[id] != b[id] {
			t.Errorf("%s: %s is\n%s\nwant\n%s", name, id, a[id], b[id])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s has %d documents, want %d", name, len(a), len(b))
	}
}

func documents(t testing.TB, text string) map[string]string {
	t.Helper()
	all := map[string]string{}
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc map[string]any
		if err := dec.Decode(&doc); err != nil {
			return all
		}
		out, err := yaml.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint(doc["kind"], " ", doc["name"])] = string(out)
	}
}
