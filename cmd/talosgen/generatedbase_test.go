package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/internal/rendered"
)

// TestGeneratedBase divides the cluster.yaml of generated environments into a base and the
// rest: the trees are the same, byte for byte, but for the digests of the sources, and
// explain names the file and the line that have a value.
func TestGeneratedBase(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	each(t, seeds(60, 60, 5000, environments), 2, 30, renderSplit)
}

func renderSplit(dir string, o generate.Options) error {
	g, err := layOut(dir, o)
	if err != nil {
		return as("sources", err)
	}
	if err := g.must("render", "--all"); err != nil {
		return as("render", err)
	}
	before, err := readFiles(g.dir)
	if err != nil {
		return err
	}
	was := map[string]map[string]string{}
	for _, env := range g.Environments {
		if was[env.Name], err = setBy(g, env.Name); err != nil {
			return as("explain", err)
		}
		if err := split(g, env.Name, o.Seed); err != nil {
			return err
		}
	}
	if err := g.must("render", "--all"); err != nil {
		return as("divided", err)
	}
	after, err := readFiles(g.dir)
	if err != nil {
		return err
	}
	for name, text := range before {
		if strings.HasPrefix(name, "rendered/") && filepath.Base(name) != rendered.LockName && after[name] != text {
			return as("divided", fmt.Errorf("%s is another one", name))
		}
	}
	for _, env := range g.Environments {
		is, err := setBy(g, env.Name)
		if err != nil {
			return as("explain divided", err)
		}
		for value, line := range was[env.Name] {
			if is[value] != line {
				return as("explain divided", fmt.Errorf("%s: %s is set by %q, was by %q", env.Name, value, is[value], line))
			}
		}
	}
	return nil
}

// split divides the cluster.yaml of an environment.
func split(g *generated, env string, seed uint64) error {
	file := filepath.Join(g.dir, "envs", env, "cluster.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	base, over := generate.Split(string(text), "../base-"+env+".yaml", seed)
	if err := writeFile(filepath.Join(g.dir, "envs", "base-"+env+".yaml"), []byte(base)); err != nil {
		return err
	}
	return writeFile(file, []byte(over))
}

// setBy are the values of the nodes of an environment that options set, each with the text
// of the line that explain names.
func setBy(g *generated, env string) (map[string]string, error) {
	lines := map[string][]string{}
	all := map[string]string{}
	nodes, err := filepath.Glob(filepath.Join(g.dir, "rendered", env, "nodes", "*.yaml"))
	if err != nil {
		return nil, err
	}
	slices.Sort(nodes)
	for _, node := range nodes[:min(len(nodes), 2)] {
		name := strings.TrimSuffix(filepath.Base(node), ".yaml")
		var out bytes.Buffer
		args := []string{"explain", env, name, "--all", "-o", "json"}
		if code, said := g.runIn(func(w *app) { w.console.stdout = &out }, args...); code != 0 {
			return nil, fmt.Errorf("talosgen %s: exit code %d\n%s", strings.Join(args, " "), code, said)
		}
		var values []struct {
			Document, Path string
			Origins        []struct {
				Layer, File string
				Line        int
			}
		}
		if err := json.Unmarshal(out.Bytes(), &values); err != nil {
			return nil, err
		}
		for _, v := range values {
			last := v.Origins[len(v.Origins)-1]
			if last.Layer != "cluster.yaml" {
				continue
			}
			if lines[last.File] == nil {
				text, err := os.ReadFile(filepath.Join(g.dir, last.File))
				if err != nil {
					return nil, err
				}
				lines[last.File] = strings.Split(string(text), "\n")
			}
			all[name+" "+v.Document+" "+v.Path] = strings.TrimLeft(lines[last.File][last.Line-1], "- ")
		}
	}
	return all, nil
}
