package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/schemas"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// TestGeneratedValidate lets stock talosctl judge what is rendered for generated
// environments: that of the release that a contract is for, and the newest one.
func TestGeneratedValidate(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	talosctl := map[string]string{"1.13": toolenv.Talosctl(t, "1.13"), "1.14": toolenv.Talosctl(t, "1.14")}
	each(t, seeds(16, 16, 20000, environments), 2, 40, func(dir string, o generate.Options) error {
		g, err := layOut(dir, o)
		if err != nil {
			return as("sources", err)
		}
		if err := g.must("render", "--all"); err != nil {
			return as("render", err)
		}
		for _, e := range g.Environments {
			if err := g.validated(e, talosctl); err != nil {
				return as("validate", err)
			}
		}
		return nil
	})
}

// validated is nil if talosctl takes the configuration of each node.
func (g *generated) validated(e generate.Environment, talosctl map[string]string) error {
	strict, mode := "1.14", "cloud"
	if e.Contract < 14 {
		strict = "1.13" // 1.14 says of words of the contracts before it that there are better ones
	}
	if e.Provider == schemas.Static {
		mode = "metal"
	}
	files, err := filepath.Glob(filepath.Join(g.dir, "rendered", e.Name, "nodes", "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s has no nodes: %w", e.Name, err)
	}
	for _, file := range files {
		config, err := g.decrypted(file)
		if err != nil {
			return err
		}
		for _, release := range slices.Sorted(maps.Keys(talosctl)) {
			if release < strict {
				continue
			}
			cmd := exec.Command(talosctl[release], "validate", "--mode", mode, "-c", config, fmt.Sprintf("--strict=%t", release == strict))
			cmd.Env = []string{"HOME=" + g.dir}
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s, contract 1.%d: talosctl %s: %w\n%s", file, e.Contract, release, err, out)
			}
		}
	}
	return nil
}

// decrypted writes a file in the clear beside the repository, and returns where.
func (g *generated) decrypted(file string) (string, error) {
	parts, err := parts()
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	keys := sopsage.NewKeys(sopsage.Env{Lookup: func(name string) (string, bool) {
		return string(parts["operator.agekey"]), name == "SOPS_AGE_KEY"
	}, ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist }})
	plain, err := keys.DecryptYAML(context.Background(), file, data)
	if err != nil {
		return "", err
	}
	config := filepath.Join(g.dir, "plain", filepath.Base(file))
	return config, writeFile(config, plain)
}
