package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// Real Flux controllers decrypt what each phase of a rotation of the age key commits, with
// the keys that the cluster has in that phase, and fail without.
func TestFluxFollowsAgeKey(t *testing.T) {
	if testing.Short() {
		t.Skip("Flux takes a minute")
	}
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"envs", "patches", "rendered"} {
		if err := os.CopyFS(filepath.Join(root, name), os.DirFS(filepath.Join("..", "..", name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".sops.yaml"), readFile(t, "../../.sops.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, c := kubeenv.NewGit(t), kubeenv.Start(t, kubeenv.WithFlux(), kubeenv.Own())
	defineOperatorKinds(t, c)
	f := fluxTree{t, root, g, c}
	f.git("init", "-q")
	f.push()
	f.keys()
	for _, o := range manifests(t, "flux/manifests.yaml", forTest("flux/manifests.yaml", f.read("flux/manifests.yaml"), g.URL)) {
		c.Apply(t, "test", false, encoded(t, o))
	}
	f.follows()
	tool := &fixture{operatorKey: readFile(t, "../../envs/example.agekey"), random: rand.NewChaCha8([32]byte{2})}
	for range 3 {
		for _, args := range [][]string{{"rotate", "dev", "age-key"}, {"render", "dev"}} {
			if err := tool.talosgen(root, args...); err != nil {
				t.Fatal(err)
			}
		}
		f.keys()
		f.push()
		f.follows()
	}
}

// fluxTree is the tree of an environment that Flux runs.
type fluxTree struct {
	*testing.T
	root string
	from *kubeenv.Git
	in   *kubeenv.Cluster
}

func (f fluxTree) git(args ...string) {
	f.Helper()
	inGit(f.T, f.root, args...)
}

func (f fluxTree) dir() string { return filepath.Join(f.root, "rendered", "dev") }

func (f fluxTree) read(name string) string {
	return string(readFile(f, filepath.Join(f.dir(), filepath.FromSlash(name))))
}

// keys gives the cluster what it decrypts with, as apply does.
func (f fluxTree) keys() {
	f.in.Apply(f.T, "test", false, sopsDecrypted(f.T, filepath.Join(f.dir(), "bootstrap/flux/secret-sops-age.yaml")))
}

// push commits the tree, here and where Flux finds it.
func (f fluxTree) push() {
	f.git("add", "-A")
	f.git("commit", "-qm", "phase")
	files := map[string]string{}
	for name, text := range readRendered(f.T, f.dir()) {
		files["rendered/dev/"+name] = forTest(name, text, f.from.URL)
	}
	f.from.Commit(f.T, files)
}

// follows waits until Flux has applied what decrypts, of the newest commit.
func (f fluxTree) follows() {
	f.Helper()
	source := f.in.Reconcile(f.T, "/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/gitrepositories/talosgen")
	revision := source.Text("status", "artifact", "revision")
	for _, name := range []string{"talosgen", "talosgen-controllers"} {
		f.in.WaitFor(f.T, "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/"+name, func(o kubeenv.Object) bool {
			return kubeenv.Ready(o) && strings.HasSuffix(o.Text("status", "lastAppliedRevision"), revision)
		}, 3*time.Minute)
	}
	compareSecret(f.T, f.in.Get(f.T, "/api/v1/namespaces/kube-system/secrets/hcloud-csi-secret"),
		manifests(f.T, "secret", sopsDecrypted(f.T, filepath.Join(f.dir(), "addons/controllers/hcloud-csi/secret-hcloud-csi-secret.yaml")))[0])
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
