package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/schemas"
)

// turn is a change in the life of a generated cluster: a feature that is added to
// its sources, or taken out.
type turn struct {
	feature    string // empty if there is none that may change while it lives
	begin, end generate.Repository
}

// turnOf chooses the change in the life of a seed: of what the seed has. One life
// needs one environment.
func turnOf(o generate.Options) turn {
	o.Without = with(o.Without, "environments")
	whole := generate.New(o)
	features := slices.DeleteFunc(slices.Clone(whole.Features), func(f string) bool { return !changeable(f) })
	if len(features) == 0 {
		return turn{begin: whole, end: whole}
	}
	feature := features[o.Seed/2%uint64(len(features))]
	o.Without = with(o.Without, feature)
	less := generate.New(o)
	switch {
	case !maps.Equal(less.Environments[0].Secrets, whole.Environments[0].Secrets):
		return turn{begin: whole, end: whole} // somebody would have to edit secrets
	case o.Seed%2 == 0 || strings.HasPrefix(feature, pools) && whole.Environments[0].Provider == schemas.Static:
		return turn{feature: "with " + feature, begin: less, end: whole} // a machine that leaves its pool is not talosgen's to reset
	}
	return turn{feature: "without " + feature, begin: whole, end: less}
}

// settles reports whether the cluster comes to an end by itself, before and after.
func (t turn) settles() bool {
	return t.begin.Environments[0].Settles && t.end.Environments[0].Settles
}

// with is a set with one more member.
func with(set map[string]bool, member string) map[string]bool {
	all := maps.Clone(set)
	if all == nil {
		all = map[string]bool{}
	}
	all[member] = true
	return all
}

// pools is the feature that there are workers at all.
const pools = "env0.nodes.workers.nodepools"

// changeable reports whether a cluster can gain or lose a feature while it lives.
func changeable(feature string) bool {
	if feature == pools {
		return true
	}
	if strings.Contains(feature, " ") || strings.Contains(feature, "addons0.") || strings.Contains(feature, "addons1.") {
		return false // how something is, not whether it is
	}
	living := []string{
		"env0.patches.", "env0.addons", "env0.talos.sysctls", "env0.talos.kernelModules", "env0.talos.staticHosts", "env0.talos.nameservers",
		"env0.talos.logging", "env0.talos.certSans", "env0.hetzner.firewall.extraRules", "env0.kubernetes.rbac",
	}
	return slices.ContainsFunc(living, func(l string) bool { return strings.HasPrefix(feature, l) })
}

// change brings a change of the sources about: the plan names what it is about and
// nothing else, and after it there is nothing to do.
func (s *generatedSite) change(t turn) error {
	if t.feature == "" {
		return nil
	}
	if err := s.changed(t); err != nil {
		return fmt.Errorf("%s: %w", t.feature, err)
	}
	return nil
}

func (s *generatedSite) changed(t turn) error {
	tree := filepath.Join(s.dir, "rendered", s.env.Name)
	before, err := readFiles(tree)
	if err != nil {
		return err
	}
	if err := errors.Join(s.replace(t.end), s.must("secrets", "sync", s.env.Name), s.must("render", s.env.Name)); err != nil {
		return err
	}
	after, err := readFiles(tree)
	if err != nil {
		return err
	}
	if s.infra, err = renderedInfrastructure(s.dir, s.env.Name); err != nil {
		return err
	}
	if err := s.stand(); err != nil {
		return err
	}
	if err := s.names(before, after); err != nil {
		return err
	}
	if err := s.agreed("apply", s.env.Name, "--allow-dirty", "--yes"); err != nil {
		return err
	}
	return s.settled()
}

// replace writes other sources in the place of those that are there.
func (s *generatedSite) replace(r generate.Repository) error {
	for name := range s.Files {
		if _, still := r.Files[name]; still {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	for name, text := range r.Files {
		if err := writeFile(filepath.Join(s.dir, name), []byte(text)); err != nil {
			return err
		}
	}
	s.Repository = r
	return nil
}

// agreed runs a command that has to succeed; if consent is missing, the one that
// it suggests then.
func (s *generatedSite) agreed(args ...string) error {
	code, said := s.runIn(s.in, args...)
	if code != int(diag.Usage) {
		return s.ended(0, code, said, args)
	}
	for line := range strings.Lines(said) {
		for _, next := range (docLine{text: line, code: true}).calls() {
			if slices.Contains(next, "--allow") {
				return s.want(0, next...)
			}
		}
	}
	return fmt.Errorf("talosgen %s: consent is missing, and no command with it is suggested\n%s", strings.Join(args, " "), said)
}

// suggestsWhatExists is nil if each command that was suggested for the next step
// exists, with its flags.
func (g *generated) suggestsWhatExists() error {
	app := newCLI(&app{})
	for line := range strings.Lines(g.said.String()) {
		if !strings.HasPrefix(line, "  talosgen ") {
			continue
		}
		for _, args := range (docLine{text: strings.TrimSpace(line), code: true}).calls() {
			if err := checkCall(app, args); err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
		}
	}
	return nil
}

// differing are the files that two trees differ in.
func differing(before, after files) (all []string) {
	for name, text := range after {
		if old, was := before[name]; !was || old != text {
			all = append(all, name)
		}
	}
	for name := range before {
		if _, still := after[name]; !still {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// surgingNodes are those that pools of a tree have only while others are recreated: no
// plan has them otherwise.
func surgingNodes(tree files) (names []string) {
	var infra schemas.Infrastructure
	if err := yaml.Unmarshal([]byte(tree[schemas.InfrastructureFile]), &infra); err != nil {
		panic(err)
	}
	for _, s := range infra.Surge {
		names = append(names, s.Name)
	}
	return names
}

// names is nil if the plan names every node whose file has changed, has come or has
// gone, and no other.
func (s *generatedSite) names(before, after files) error {
	code, said := s.runIn(s.in, "plan", s.env.Name, "--allow-dirty")
	if code != int(diag.OK) && code != int(diag.Differences) {
		return s.ended(1, code, said, []string{"plan"})
	}
	words := strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" \n\t,:;()/'\"`", r) })
	changed := differing(before, after)
	both := maps.Clone(before)
	maps.Copy(both, after)
	all, lost := s.namesAutoscaled(changed)
	surge := append(surgingNodes(before), surgingNodes(after)...)
	for file := range both {
		name, isNode := strings.CutPrefix(strings.TrimSuffix(file, ".yaml"), "nodes/")
		if isNode && !slices.Contains(surge, name) {
			all[name] = slices.Contains(changed, file)
		}
	}
	for name, differs := range all {
		if named := slices.Contains(words, name); differs != named {
			return fmt.Errorf("the file of %s has changed: %t; the plan names it: %t; changed are %q\n%s", name, differs, named, changed, said)
		}
		if differs && code != int(diag.Differences) && !slices.Contains(lost, name) {
			return fmt.Errorf("the file of %s has changed, and the exit code is %d\n%s", name, code, said)
		}
	}
	return nil
}
