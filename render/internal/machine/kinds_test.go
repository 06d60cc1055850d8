package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// registeredKinds returns the kinds of documents that the linked library knows,
// all of them: its registry is internal, so they are read from its source.
func registeredKinds(t testing.TB) []string {
	t.Helper()
	kinds, err := readKinds()
	if err != nil {
		t.Fatal(err)
	}
	if len(kinds) < 89 {
		t.Fatalf("only %d kinds found: has the library changed how it registers them?", len(kinds))
	}
	return kinds
}

var (
	registration = regexp.MustCompile(`registry\.Register\((\w+),`)
	kindConstant = regexp.MustCompile(`\b(\w+)\s*=\s*"(\w+)"`)
)

var readKinds = sync.OnceValues(func() ([]string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/siderolabs/talos/pkg/machinery").Output()
	if err != nil {
		return nil, err
	}
	var kinds []string
	root := filepath.Join(strings.TrimSpace(string(dir)), "config", "types")
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			return err
		}
		var source strings.Builder
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if !strings.HasSuffix(file, "_test.go") {
				source.Write(text)
			}
		}
		names := map[string]string{}
		for _, m := range kindConstant.FindAllStringSubmatch(source.String(), -1) {
			names[m[1]] = m[2]
		}
		for _, m := range registration.FindAllStringSubmatch(source.String(), -1) {
			if name := names[m[1]]; name != "" && name != mainKind {
				kinds = append(kinds, name)
			}
		}
		return nil
	})
	slices.Sort(kinds)
	return slices.Compact(kinds), err
})

// The list that misspellings are found by is that of the library. Kinds of a newer
// one are not taken for misspellings, be they named like the known ones.
func TestNearKind(t *testing.T) {
	if want := registeredKinds(t); !slices.Equal(allKinds, want) {
		t.Errorf("allKinds are\n%q\nthe library has\n%q", allKinds, want)
	}
	for kind, want := range map[string]string{
		"NetworkRulConfig": "NetworkRuleConfig", "KubeNodeConfigs": "KubeNodeConfig", "kubeletconfig": "KubeletConfig",
		"LinkConfg": "LinkConfig", "BondsConfig": "BondConfig", "FutureConfig": "", "LineConfig": "LinkConfig",
		"LaneConfig": "", "KubeProxyConfig2027": "", "DHCPv4Config": "", "LinkConfig": "",
	} {
		if got := nearKind(kind); got != want {
			t.Errorf("%s is near %q, want %q", kind, got, want)
		}
	}
}

// TestRegisteredKinds: talosgen finds the type of every kind, and the identity
// that it reads from YAML is the one that the library matches by.
func TestRegisteredKinds(t *testing.T) {
	for _, k := range registeredKinds(t) {
		t.Run(k, func(t *testing.T) {
			doc, err := newTyped(kind(k))
			if err != nil {
				t.Fatal(err)
			}
			text := "apiVersion: v1alpha1\nkind: " + k + "\n"
			if _, named := fieldsOf(reflectType(doc))["name"]; named {
				text += "name: 10.1.0.0/16\n"
			}
			p := mustLoad(t, "p.yaml", text)
			if have := typedID(p.docs[0].typed); have != p.docs[0].id {
				t.Errorf("the library's identity is %v, the YAML's %v", have, p.docs[0].id)
			}
		})
	}
}
