package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/generate"
)

// TestGeneratedImport takes what is rendered for generated environments as what
// somebody has who does not use talosgen: an import renders to the same, value by value,
// says so again when it is repeated, and shows no secret.
func TestGeneratedImport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	each(t, seeds(20, 24, 2000, environments), 2, 40, func(dir string, o generate.Options) error {
		g, err := layOut(dir, o)
		if err != nil {
			return as("sources", err)
		}
		if err := g.must("render", "--all"); err != nil {
			return as("render", err)
		}
		for _, e := range g.Environments {
			if err := g.imported(e); err != nil {
				return as("import", fmt.Errorf("%s, contract 1.%d: %w", e.Name, e.Contract, err))
			}
		}
		return nil
	})
}

// imported is nil if an environment can be imported from its machines.
func (g *generated) imported(e generate.Environment) error {
	files, err := filepath.Glob(filepath.Join(g.dir, "rendered", e.Name, "nodes", "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no nodes: %w", err)
	}
	folder := filepath.Join(g.dir, "machines", e.Name)
	topf := "clusterName: " + e.Name + "\nnodes:\n"
	for _, file := range files {
		plain, err := g.decrypted(file)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(plain)
		if err != nil {
			return err
		}
		if err := errors.Join(writeFile(filepath.Join(folder, filepath.Base(file)), data), writeFile(filepath.Join(folder, "output", filepath.Base(file)), data)); err != nil {
			return err
		}
		topf += "  - {host: " + strings.TrimSuffix(filepath.Base(file), ".yaml") + "}\n"
	}
	if err := writeFile(filepath.Join(folder, "topf.yaml"), []byte(topf)); err != nil {
		return err
	}
	for _, from := range []string{"talosctl", "topf"} {
		if err := g.importedFrom(from, folder, "import-"+from+"-"+e.Name); err != nil {
			return as(from, err)
		}
	}
	return nil
}

// importedFrom is nil if a folder is imported, says so again, and no secret is shown.
func (g *generated) importedFrom(from, folder, env string) error {
	call := []string{"import", env, "--from", from, "--dir", folder}
	if err := g.must(call...); err != nil {
		return err
	}
	if err := g.must("render", env); err != nil {
		return err
	}
	code, said := g.run(call...)
	if code != 0 || !strings.Contains(said, "nothing changed") {
		return fmt.Errorf("again: exit code %d\n%s", code, said)
	}
	return g.noSecretsIn(filepath.Join(g.dir, "envs", env))
}

// noSecretsIn is nil if no file below a directory has a secret in the clear.
func (g *generated) noSecretsIn(dir string) error {
	f := &fixture{secrets: g.secrets}
	return filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		if err == nil && f.leaks(string(data)) {
			return fmt.Errorf("%s has a secret in the clear", file)
		}
		return err
	})
}
