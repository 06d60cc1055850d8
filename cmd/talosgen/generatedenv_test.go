package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/generate"
)

// TestGeneratedEnvAdd makes environments that are like generated ones: what only one
// cluster can have is named, whatever there is; nothing encrypted of the other is copied;
// and what is made renders beside it.
func TestGeneratedEnvAdd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	each(t, seeds(12, 16, 600, environments), 2, 40, func(dir string, o generate.Options) error {
		g, err := layOut(dir, o)
		if err != nil {
			return as("sources", err)
		}
		for i, e := range g.Environments {
			if err := g.madeLike(fmt.Sprintf("made-%d", i), e); err != nil {
				return as("env add", fmt.Errorf("%s: %w", e.Name, err))
			}
		}
		return g.sound()
	})
}

// placeSaid is what is said of a place: its value, and what --set takes.
var placeSaid = regexp.MustCompile(`(?m)^error: .*?: (.*) is where .* is\n  say where .* is: --set '(.*?)=…'`)

// sealedValue is an encrypted value.
var sealedValue = regexp.MustCompile(`ENC\[[^\]]*\]`)

// madeLike is nil if an environment can be made like another one, and renders.
func (g *generated) madeLike(name string, e generate.Environment) error {
	args := []string{"env", "add", name, "--like", e.Name}
	code, said := g.run(args...)
	if code != 0 {
		if there, _ := filepath.Glob(filepath.Join(g.dir, "envs", name, "*")); len(there) > 0 {
			return fmt.Errorf("something was written: %v", there)
		}
		code, said = g.run(append(args, g.same(e, said)...)...)
	}
	if code != 0 {
		return fmt.Errorf("exit code %d\n%s", code, said)
	}
	return g.rendersLike(name, e)
}

// same says of all places that both may have them.
func (g *generated) same(e generate.Environment, said string) (flags []string) {
	values := map[string]string{}
	for _, p := range placeSaid.FindAllStringSubmatch(said, -1) {
		values[p[2]] = p[1]
		own := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(p[2]) + `="?(.*?)"?$`)
		if found := own.FindStringSubmatch(g.Files["envs/"+e.Name+"/cluster.env"]); found != nil {
			values[p[2]] = found[1]
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		flags = append(flags, "--set", key+"="+values[key])
	}
	return flags
}

// rendersLike checks what was made, and renders it with the secrets that it lacks.
func (g *generated) rendersLike(name string, e generate.Environment) error {
	made, err := readFiles(filepath.Join(g.dir, "envs", name))
	if err != nil {
		return err
	}
	old, err := readFiles(filepath.Join(g.dir, "envs", e.Name))
	if err != nil {
		return err
	}
	for file, text := range made {
		for _, sealed := range sealedValue.FindAllString(text, -1) {
			for _, theirs := range old {
				if strings.Contains(theirs, sealed) {
					return fmt.Errorf("%s has an encrypted value of %s", file, e.Name)
				}
			}
		}
	}
	for _, variable := range slices.Sorted(maps.Keys(e.Secrets)) {
		give := func(a *app) { a.console.stdin = strings.NewReader(e.Secrets[variable]) }
		if code, said := g.runIn(give, "secrets", "set", name, variable); code != 0 {
			return fmt.Errorf("secrets set: exit code %d\n%s", code, said)
		}
	}
	return g.must("render", name)
}
