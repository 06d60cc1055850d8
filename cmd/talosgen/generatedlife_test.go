package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/internal/hetznersim"
	"github.com/talosgen/talosgen/internal/kubesim"
	"github.com/talosgen/talosgen/internal/rescuesim"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/internal/talossim"
	"github.com/talosgen/talosgen/schemas"
)

// TestGeneratedLife lives the life of generated clusters: from an empty project, or
// from machines that wait, to where there is nothing to do; through a change, of
// which the plan names what it is about and nothing else; to nothing.
func TestGeneratedLife(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	const atOnce = 8 // where no lock keeps others out, a run waits half a minute for them
	each(t, seeds(10, 20, 1500), atOnce, 25, generatedLife)
}

func generatedLife(dir string, o generate.Options) error {
	g, err := layOut(dir, o)
	if err != nil {
		return as("sources", err)
	}
	e := g.Environments[0]
	if err := g.must("render", "--all"); err != nil {
		return as("render", err)
	}
	if !e.Settles {
		return nil // it waits for the network that somebody brings, or for another machine
	}
	s, err := newGeneratedSite(g, e)
	if err != nil {
		return as("site", err)
	}
	defer s.close()
	steps := []struct {
		kind string
		do   func() error
	}{
		{"first plan", func() error { return s.want(1, "plan", e.Name, "--allow-dirty") }},
		{"first apply", func() error { return s.want(0, "apply", e.Name, "--allow-dirty", "--yes") }},
		{"first end", s.settled},
		{"change", func() error { return s.change(o) }},
		{"destroy", func() error { return s.destroy() }},
		{"output", g.sound},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return as(step.kind, err)
		}
		if broken := s.fleet.Violations(); len(broken) > 0 {
			return as("etcd", fmt.Errorf("%v\n%s", broken, &g.said))
		}
	}
	return nil
}

// generatedSite is what a generated environment meets.
type generatedSite struct {
	*generated
	env    generate.Environment
	infra  schemas.Infrastructure
	clock  *aheadClock
	rescue *rescuesim.Machines
	fleet  *talossim.Fleet
	sim    *hetznersim.Sim
	server *httptest.Server
	sign   apply.Signers
	before map[string]int // objects of the project, by kind, that are not the cluster's
}

func newGeneratedSite(g *generated, e generate.Environment) (s *generatedSite, err error) {
	s = &generatedSite{generated: g, env: e, clock: &aheadClock{}}
	if s.infra, err = renderedInfrastructure(g.dir, e.Name); err != nil {
		return nil, err
	}
	if s.rescue, err = rescuesim.New(rand.Reader, fetchPicture); err != nil {
		return nil, err
	}
	key, err := sshkey.New(rand.Reader)
	if err != nil {
		return nil, err
	}
	public, err := sshkey.Public(key)
	if err != nil {
		return nil, err
	}
	s.sign = apply.SSHFileKeys([]string{"generated"}, [][]byte{[]byte(key.Reveal())}, nil)
	s.fleet = talossim.New(talossim.Options{Clock: s.clock, Random: rand.Reader, Timing: talossim.DefaultTiming().Faster(0), Flux: &kubesim.Flux{
		Installed: true,
		Revision:  func(branch string) string { return branch + "@sha1:" + strings.Repeat("0", 40) },
		Read:      func(path string) ([]map[string]any, error) { return kubesim.Manifests(os.DirFS(g.dir), path) },
	}})
	s.sim = hetznersim.New(hetznersim.Options{
		Clock: s.clock, Token: simToken, RateLimit: -1, ActionTime: hetznersim.Instant, Machines: talossim.NewServers(s.fleet, s.rescue),
	})
	empty := s.infra
	empty.Images = slices.DeleteFunc(slices.Clone(empty.Images), func(i schemas.InfraSnapshot) bool { return i.Build }) // those apply makes
	if err := seed(s.sim, empty, public); err != nil {
		return nil, err
	}
	for _, m := range s.infra.Machines {
		s.fleet.Add(standing(m)).PowerOn()
	}
	if err := s.clock.Sleep(context.Background(), time.Minute); err != nil {
		return nil, err
	}
	s.server = httptest.NewServer(proxied(s.sim, firstOf(s.rescue.Dial, s.fleet.Dial)))
	s.before = s.objects()
	return s, nil
}

func (s *generatedSite) close() {
	s.server.Close()
	s.fleet.Close()
	s.rescue.Close()
}

// in changes a world into that of the site.
func (s *generatedSite) in(w *world) {
	place := simulated{proxy: s.server.URL, token: simToken, nodes: true}
	keys := w.lookup
	w.lookup = func(name string) (string, bool) {
		if value, ours := place.lookup(name); ours {
			return value, true
		}
		return keys(name)
	}
	w.now, w.http, w.signers = s.clock.Now, http.DefaultTransport, s.sign
	w.sleep = func(ctx context.Context, d time.Duration) error { return sleepFor(ctx, d/100) }
}

// want runs a command that has to end so.
func (s *generatedSite) want(code int, args ...string) error {
	got, said := s.runIn(s.in, args...)
	if got != code {
		return fmt.Errorf("talosgen %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, said)
	}
	return nil
}

// kinds are those of the objects of a project.
var kinds = []string{"servers", "networks", "firewalls", "load_balancers", "placement_groups", "floating_ips", "primary_ips", "volumes", "ssh_keys", "certificates"}

// objects counts what there is in the project.
func (s *generatedSite) objects() map[string]int {
	all := map[string]int{}
	for _, kind := range kinds {
		all[kind] = len(s.list(kind))
	}
	return all
}

// list is all of a kind in the project.
func (s *generatedSite) list(kind string) []any {
	var answer map[string]any
	if err := (&simProject{s.sim}).call(http.MethodGet, "/"+kind+"?per_page=50", nil, &answer); err != nil {
		panic(err) // the simulator answers
	}
	list, _ := answer[kind].([]any)
	return list
}

// settled is nil if there is nothing to do, and nothing that a run may not leave: a
// server that is off, a firewall of a session, a lock.
func (s *generatedSite) settled() error {
	if err := s.want(0, "plan", s.env.Name, "--allow-dirty"); err != nil {
		return err
	}
	want := maps.Clone(s.before)
	made := func(kind string, n int) { want[kind] += n }
	made("servers", len(s.infra.Servers))
	made("load_balancers", len(s.infra.LoadBalancers))
	made("placement_groups", len(s.infra.PlacementGroups))
	for _, f := range s.infra.Firewalls {
		if f.ExistingID == 0 {
			made("firewalls", 1)
		}
	}
	for _, f := range s.infra.FloatingIPs {
		if f.ExistingID == 0 {
			made("floating_ips", 1)
		}
	}
	if n := s.infra.Network; n != nil && !n.Existing {
		made("networks", 1)
	}
	got := s.objects()
	want["primary_ips"] = got["primary_ips"] // they come with servers, and go with them
	if !maps.Equal(got, want) {
		return fmt.Errorf("there is %v, want %v", got, want)
	}
	for _, o := range s.list("servers") {
		if server, _ := o.(map[string]any); server["status"] != "running" {
			return fmt.Errorf("the server %v is %v", server["name"], server["status"])
		}
	}
	return nil
}

// change takes a part of what makes the environment out of its sources, and brings
// that about.
func (s *generatedSite) change(o generate.Options) error {
	o.ExampleKey = "" // changes nothing
	feature := s.changeable()
	if feature == "" {
		return nil
	}
	without := maps.Clone(o.Without)
	if without == nil {
		without = map[string]bool{}
	}
	without[feature] = true
	less := generate.New(generate.Options{Seed: o.Seed, Without: without})
	for name := range s.Files {
		if _, still := less.Files[name]; !still && strings.HasPrefix(name, "envs/"+s.env.Name+"/") {
			if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
				return err
			}
		}
	}
	for name, text := range less.Files {
		if strings.HasPrefix(name, "envs/"+s.env.Name+"/") {
			if err := writeFile(filepath.Join(s.dir, name), []byte(text)); err != nil {
				return err
			}
		}
	}
	tree := filepath.Join(s.dir, "rendered", s.env.Name)
	before, err := readFiles(tree)
	if err != nil {
		return err
	}
	if err := errors.Join(s.must("secrets", "sync", s.env.Name), s.must("render", s.env.Name)); err != nil {
		return fmt.Errorf("without %s: %w", feature, err)
	}
	after, err := readFiles(tree)
	if err != nil {
		return err
	}
	if s.infra, err = renderedInfrastructure(s.dir, s.env.Name); err != nil {
		return err
	}
	if err := s.names(changed(before, after)); err != nil {
		return fmt.Errorf("without %s: %w", feature, err)
	}
	if err := s.want(0, "apply", s.env.Name, "--allow-dirty", "--yes"); err != nil {
		return fmt.Errorf("without %s: %w", feature, err)
	}
	if err := s.settled(); err != nil {
		return fmt.Errorf("without %s: %w", feature, err)
	}
	return nil
}

// changeable is a feature that a cluster can lose while it lives.
func (s *generatedSite) changeable() string {
	living := []string{"env0.patches.", "env0.talos.sysctls", "env0.addons", "env0.talos.kernelModules", "env0.talos.staticHosts", "env0.talos.nameservers", "env0.hetzner.firewall.extraRules", "env0.talos.logging", "env0.talos.certSans", "env0.kubernetes.rbac"}
	var all []string
	for _, f := range s.Features {
		if strings.Contains(f, " ") {
			continue // how something is, not whether it is
		}
		for _, l := range living {
			if strings.HasPrefix(f, l) && !strings.Contains(f, "addons0.") && !strings.Contains(f, "addons1.") {
				all = append(all, f)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[s.Seed%uint64(len(all))]
}

// changed are the files that two trees differ in.
func changed(before, after files) (all []string) {
	for name, text := range after {
		if before[name] != text {
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

// names is nil if the plan names every node whose file has changed, and no other.
func (s *generatedSite) names(changed []string) error {
	_, said := s.runIn(s.in, "plan", s.env.Name, "--allow-dirty")
	nodes, err := os.ReadDir(filepath.Join(s.dir, "rendered", s.env.Name, "nodes"))
	if err != nil {
		return err
	}
	words := strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" \n\t,:;()/'\"`", r) })
	for _, n := range nodes {
		name := strings.TrimSuffix(n.Name(), ".yaml")
		differs, named := slices.Contains(changed, "nodes/"+n.Name()), slices.Contains(words, name)
		if differs != named {
			return fmt.Errorf("the file of %s has changed: %t; the plan names it: %t; changed are %q\n%s", name, differs, named, changed, said)
		}
	}
	return nil
}

// destroy is nil if nothing is left but what was there before.
func (s *generatedSite) destroy() error {
	if len(s.infra.Servers) == 0 {
		return nil // machines are not talosgen's to remove
	}
	s.fleet.LetEnd()
	if err := s.want(0, "destroy", s.env.Name, "--allow-dirty", "--yes-destroy", s.env.Cluster); err != nil {
		return err
	}
	if got := s.objects(); !maps.Equal(got, s.before) {
		return fmt.Errorf("left is %v, there was %v\n%s", got, s.before, &s.said)
	}
	return nil
}
