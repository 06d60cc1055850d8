package cache

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var sample = Module{
	Folder: "tools/sample",
	Tools:  []Tool{{Name: "one", Package: "example.org/one"}, {Name: "two", Package: "example.org/two"}},
	Files:  []Files{{Folder: "files", Module: "example.org/one", Glob: "*.yaml"}},
}

// newCache returns a cache whose source holds the sample module.
func newCache(t *testing.T) Cache {
	t.Helper()

	c := Cache{Root: t.TempDir(), Source: t.TempDir()}
	write(t, filepath.Join(c.Source, "tools/sample/go.mod"), "module sample\n")

	return c
}

func write(t *testing.T, name, text string) {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func dir(t *testing.T, c Cache, m Module) string {
	t.Helper()

	d, err := c.Dir(m)
	if err != nil {
		t.Fatal(err)
	}

	return d
}

func TestDirFollowsContent(t *testing.T) {
	c := newCache(t)
	seen := map[string]string{dir(t, c, sample): "the first"}

	step := func(what string, m Module) {
		t.Helper()

		d := dir(t, c, m)
		if before, ok := seen[d]; ok {
			t.Errorf("%s: same folder as %s", what, before)
		}

		seen[d] = what
	}

	write(t, filepath.Join(c.Source, "tools/sample/go.mod"), "module sample // changed\n")
	step("a changed file", sample)

	write(t, filepath.Join(c.Source, "tools/sample/edits/via.go"), "package via\n")
	step("an added file", sample)

	err := os.Rename(filepath.Join(c.Source, "tools/sample/edits"), filepath.Join(c.Source, "tools/sample/moved"))
	if err != nil {
		t.Fatal(err)
	}

	step("a moved file", sample)

	other := sample
	other.Tools = other.Tools[:1]
	step("fewer tools", other)

	other = sample
	other.LinkerFlags = "-X main.version=v1"
	step("other flags", other)

	other = sample
	other.Files = nil
	step("fewer files", other)

	if d := dir(t, c, sample); seen[d] != "a moved file" {
		t.Errorf("the folder is not stable: %s", d)
	}

	if base := filepath.Base(dir(t, c, sample)); !strings.HasPrefix(base, "sample-") {
		t.Errorf("folder %s does not name its module", base)
	}
}

func TestDirOfMissingModule(t *testing.T) {
	_, err := newCache(t).Dir(Module{Folder: "tools/none"})
	if err == nil || !strings.Contains(err.Error(), "testenv/tools/none") {
		t.Errorf("error %v, want one that names the folder", err)
	}
}

func TestReadyNeedsEverything(t *testing.T) {
	c := newCache(t)
	d := dir(t, c, sample)

	write(t, filepath.Join(d, "one"), "")

	if Ready(d, sample) {
		t.Error("ready without the second tool")
	}

	write(t, filepath.Join(d, "two"), "")

	if Ready(d, sample) {
		t.Error("ready without the files")
	}

	write(t, filepath.Join(d, "files", "one.yaml"), "")

	if !Ready(d, sample) {
		t.Error("not ready with everything")
	}
}

func TestFind(t *testing.T) {
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}

	c.Root = t.TempDir()

	if got, err := c.Find("tools/sops"); err == nil {
		t.Errorf("found %s in an empty cache", got)
	}

	for _, m := range Modules() {
		d := dir(t, c, m)
		for _, tool := range m.Tools {
			write(t, filepath.Join(d, tool.Name), "")
		}

		for _, files := range m.Files {
			write(t, filepath.Join(d, files.Folder, "one.yaml"), "")
		}
	}

	got, err := c.Find("tools/talosctl-1.14")
	if err != nil {
		t.Fatal(err)
	}

	if !strings.HasPrefix(filepath.Base(got), "talosctl-1.14-") {
		t.Errorf("found %s", got)
	}

	if _, err := c.Find("tools/none"); err == nil {
		t.Error("found a tool of a module that does not exist")
	}
}

func TestOpen(t *testing.T) {
	t.Setenv(Variable, "/somewhere")

	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}

	if c.Root != "/somewhere" {
		t.Errorf("root %s", c.Root)
	}

	if _, err := os.Stat(filepath.Join(c.Source, "internal/cache/cache.go")); err != nil {
		t.Error(err)
	}

	if _, err := findSource(t.TempDir()); err == nil {
		t.Error("a folder outside of a checkout was accepted")
	}
}

// TestKubernetesVersion compares what the programs say that they are with what
// they are built from.
func TestKubernetesVersion(t *testing.T) {
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}

	for folder, flags := range map[string]string{"kube": kubernetesVersion, "talosnode/kubernetes": kubernetesVersion, nextKubernetes: nextVersion} {
		goMod, err := os.ReadFile(filepath.Join(c.Source, filepath.FromSlash(folder), "go.mod"))
		if err != nil {
			t.Fatal(err)
		}

		found := regexp.MustCompile(`(?m)^\tk8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)`).FindStringSubmatch(string(goMod))
		if found == nil {
			t.Fatalf("go.mod of %s requires no k8s.io/kubernetes", folder)
		}

		for i, name := range []string{"gitVersion", "gitMajor", "gitMinor"} {
			flag := "k8s.io/component-base/version." + name + "=" + found[i+1]
			if !slices.Contains(strings.Fields(flags), flag) {
				t.Errorf("%s: the linker flags %q lack %s", folder, flags, flag)
			}
		}
	}
}
