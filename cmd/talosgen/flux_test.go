package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/testenv/kubeenv"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// Real Flux controllers run the whole tree of every shipped environment from
// Git, and decrypt its Secrets with the key of the cluster alone. There is no
// kubelet, so nothing of it becomes ready, and what Flux waits for is only that
// it is applied.
func TestFluxRunsShippedTrees(t *testing.T) {
	if testing.Short() {
		t.Skip("three clusters take a minute each")
	}
	t.Parallel()
	shipped := filepath.Join("..", "..", "rendered")
	trees, err := os.ReadDir(shipped)
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range trees {
		if !env.IsDir() {
			continue // the page that says what the folder is
		}
		t.Run(env.Name(), func(t *testing.T) {
			runByFlux(t, filepath.Join(shipped, env.Name()), env.Name())
		})
	}
}

// runByFlux gives a tree to a cluster of its own, as apply would.
func runByFlux(t *testing.T, dir, env string) {
	g, c := kubeenv.NewGit(t), kubeenv.Start(t, kubeenv.WithFlux(), kubeenv.Own())
	files := readRendered(t, dir)
	committed := map[string]string{}
	for name, text := range files {
		committed["rendered/"+env+"/"+name] = forTest(name, text, g.URL)
	}
	commit := g.Commit(t, committed)
	defineOperatorKinds(t, c)
	c.Apply(t, "test", false, sopsDecrypted(t, filepath.Join(dir, "bootstrap/flux/secret-sops-age.yaml")))
	for _, o := range manifests(t, "flux/manifests.yaml", forTest("flux/manifests.yaml", files["flux/manifests.yaml"], g.URL)) {
		c.Apply(t, "test", false, encoded(t, o))
	}
	applied := func(o kubeenv.Object) bool {
		return kubeenv.Ready(o) && strings.HasSuffix(o.Text("status", "lastAppliedRevision"), commit)
	}
	for _, o := range manifests(t, "flux/manifests.yaml", files["flux/manifests.yaml"]) {
		if o.Kind() == "Kustomization" {
			c.WaitFor(t, c.Path(t, encoded(t, o)), applied, 2*time.Minute)
		}
	}
	for name, text := range files {
		if !strings.HasPrefix(name, "addons/") || strings.HasSuffix(name, "kustomization.yaml") {
			continue
		}
		for _, o := range manifests(t, name, text) {
			live := c.Get(t, c.Path(t, encoded(t, manifest.Object{"apiVersion": o.APIVersion(), "kind": o.Kind(), "metadata": o["metadata"]})))
			if live == nil {
				t.Errorf("%s of %s is not in the cluster", o.ID(), name)
				continue
			}
			if strings.Contains(name, "/secret-") {
				compareSecret(t, live, manifests(t, name, sopsDecrypted(t, filepath.Join(dir, name)))[0])
			}
		}
	}
}

// operatorKinds are those of shipped trees that operators define when they run:
// Cilium's, and Talos where API access is on. Nothing runs here.
var operatorKinds = []struct{ name, group, version, kind, scope string }{
	{"ciliumclusterwidenetworkpolicies", "cilium.io", "v2", "CiliumClusterwideNetworkPolicy", "Cluster"},
	{"serviceaccounts", "talos.dev", "v1alpha1", "ServiceAccount", "Namespaced"},
}

// defineOperatorKinds defines them, and waits until the API serves them: Flux would
// come again after minutes.
func defineOperatorKinds(t *testing.T, c *kubeenv.Cluster) {
	t.Helper()
	for _, k := range operatorKinds {
		c.Apply(t, "test", false, encoded(t, manifest.Object{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": k.name + "." + k.group},
			"spec": map[string]any{
				"group": k.group, "scope": k.scope,
				"names": map[string]any{"kind": k.kind, "plural": k.name},
				"versions": []any{map[string]any{
					"name": k.version, "served": true, "storage": true,
					"schema": map[string]any{"openAPIV3Schema": map[string]any{
						"type": "object", "x-kubernetes-preserve-unknown-fields": true,
					}},
				}},
			},
		}))
		c.WaitFor(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+k.name+"."+k.group, func(o kubeenv.Object) bool {
			status, _ := o.Condition("Established")
			return status == "True"
		}, time.Minute)
	}
}

// compareSecret compares the data of a Secret with what was encrypted.
func compareSecret(t *testing.T, live kubeenv.Object, want manifest.Object) {
	t.Helper()
	data, _ := want["data"].(map[string]any)
	for key, value := range data {
		if live.Text("data", key) != value {
			t.Errorf("%s: %s is not what was encrypted", want.ID(), key)
		}
	}
}

// forTest makes Flux take the tree from another server, and not wait for what
// only a kubelet could bring about.
func forTest(name, text, url string) string {
	if name != "flux/manifests.yaml" {
		return text
	}
	var lines []string
	skip := 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case skip > 0:
			skip--
			continue
		case strings.HasPrefix(line, "  url: "):
			line = "  url: \"" + url + "\"\n"
		case strings.HasPrefix(line, "    branch: "):
			line = "    branch: main\n"
		case line == "  secretRef:\n": // of the GitRepository
			skip = 1
			continue
		case trimmed == "wait: true":
			line = strings.Replace(line, "true", "false", 1)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// readRendered reads a tree, without what is not for Kubernetes.
func readRendered(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, relErr := filepath.Rel(dir, path)
		if relErr != nil {
			return relErr
		}
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sopsDecrypted is a file as the real sops decrypts it with the example key.
func sopsDecrypted(t *testing.T, file string) string {
	t.Helper()
	key, err := filepath.Abs(filepath.Join("..", "..", "envs", "example.agekey"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(toolenv.Sops(t), "decrypt", file)
	cmd.Env = append(os.Environ(), "SOPS_AGE_KEY_FILE="+key)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return string(out)
}

func manifests(t *testing.T, name, text string) []manifest.Object {
	t.Helper()
	objects, err := manifest.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func encoded(t *testing.T, o manifest.Object) string {
	t.Helper()
	text, err := manifest.Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
