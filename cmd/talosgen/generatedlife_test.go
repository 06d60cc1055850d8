package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sshkey"
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
	each(t, seeds(10, 300, 1500, lives), 4, 25, generatedLife)
}

func generatedLife(dir string, o generate.Options) error {
	t := turnOf(o)
	if !t.settles() {
		return nil // it waits for the network that somebody brings, or for another machine
	}
	g, err := layOutOf(dir, t.begin)
	if err != nil {
		return as("sources", err)
	}
	e := g.Environments[0]
	if err := g.must("render", e.Name); err != nil {
		return as("render", err)
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
		{"autoscale", s.autoscale},
		{"change", func() error { return s.change(t) }},
		{"upgrade", s.upgrade},
		{"destroy", func() error { return s.destroy() }},
		{"output", g.sound},
		{"suggestions", g.suggestsWhatExists},
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
	clock  *hetznersim.ScriptedClock // as fast as everybody works
	rescue *rescuesim.Machines
	fleet  *talossim.Fleet
	sim    *hetznersim.Sim
	server *httptest.Server
	sign   reach.Signers
	stands map[string]bool // machines and images
	before map[string]int  // objects of the project, by kind, that are not the cluster's

	autoscaled int             // servers that the autoscaler has made
	volumes    map[string]bool // those that nodes have, or had: they stay
}

func newGeneratedSite(g *generated, e generate.Environment) (s *generatedSite, err error) {
	s = &generatedSite{generated: g, env: e, clock: hetznersim.NewClock(time.Now()), stands: map[string]bool{}, volumes: map[string]bool{}}
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
	s.sign = reach.FileKeys([]string{"generated"}, [][]byte{[]byte(key.Reveal())}, nil)
	s.fleet = talossim.New(talossim.Options{Clock: s.clock, Random: rand.Reader, Timing: talossim.DefaultTiming().Faster(0), Flux: &kubesim.Flux{
		Installed: true,
		Revision:  func(branch string) string { return branch + "@sha1:" + strings.Repeat("0", 40) },
		Read:      repositoryFor(os.DirFS(g.dir)).read,
	}})
	s.sim = hetznersim.New(hetznersim.Options{
		Clock: s.clock, Token: simToken, RateLimit: -1, ActionTime: hetznersim.Instant, Machines: talossim.NewServers(s.fleet, s.rescue),
	})
	empty := s.infra
	empty.Images = nil // those stand, or apply makes them
	if err := seed(s.sim, empty, public); err != nil {
		return nil, err
	}
	if err := s.stand(); err != nil {
		return nil, err
	}
	s.server = httptest.NewServer(proxied(s.sim, firstOf(s.rescue.Dial, s.fleet.Dial)))
	s.before = s.objects()
	return s, nil
}

// stand lets the machines wait that the environment names, and has the images that
// somebody else makes: those that are not there yet.
func (s *generatedSite) stand() error {
	more := 0
	for _, image := range s.infra.Images {
		if name := "image " + image.Selector + " " + image.Architecture; !image.Build && !s.stands[name] {
			s.sim.AddSnapshot("Talos, made by somebody", image.Architecture, snapshotDisk, image.Labels)
			s.stands[name] = true
		}
	}
	for _, m := range s.infra.Machines {
		if !s.stands[m.Name] {
			s.fleet.Add(preinstalled(m)).PowerOn()
			s.stands[m.Name] = true
			more++
		}
	}
	if more == 0 {
		return nil
	}
	return s.clock.Sleep(context.Background(), time.Minute)
}

func (s *generatedSite) close() {
	s.server.Close()
	s.fleet.Close()
	s.rescue.Close()
}

// in changes an app into that of the site.
func (s *generatedSite) in(w *app) {
	place := simulated{proxy: s.server.URL, token: simToken, nodes: true}
	keys := w.vars
	w.vars = func(name string) (string, bool) {
		if value, ours := place.lookup(name); ours {
			return value, true
		}
		return keys(name)
	}
	w.clock, w.http, w.signers = clock{s.clock.Now, s.clock.Sleep}, http.DefaultTransport, s.sign
}

// want runs a command that has to end so.
func (s *generatedSite) want(code int, args ...string) error {
	got, said := s.runIn(s.in, args...)
	return s.ended(code, got, said, args)
}

// ended is nil if a command ended as it had to, and left nothing behind.
func (s *generatedSite) ended(want, got int, said string, args []string) error {
	if got != want {
		return fmt.Errorf("talosgen %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, want, said)
	}
	if err := s.tidy(); err != nil {
		return fmt.Errorf("talosgen %s: %w\n%s", strings.Join(args, " "), err, said)
	}
	return nil
}

// tidy is nil if there is nothing that no run may leave: a server that is off, a
// firewall of a session, a lock.
func (s *generatedSite) tidy() error {
	for _, o := range s.list("servers") {
		if server, _ := o.(map[string]any); server["status"] != "running" {
			return fmt.Errorf("the server %v is %v", server["name"], server["status"])
		}
	}
	for _, o := range s.list("firewalls") {
		firewall, _ := o.(map[string]any)
		labels, _ := firewall["labels"].(map[string]any)
		if c := labels[schemas.LabelComponent]; c == schemas.ComponentLock || c == schemas.ComponentSession {
			return fmt.Errorf("the firewall %v is left", firewall["name"])
		}
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
	made("servers", len(s.infra.Servers)+s.autoscaled)
	made("load_balancers", len(s.infra.LoadBalancers))
	made("placement_groups", len(s.infra.PlacementGroups))
	for _, server := range s.infra.Servers {
		for _, v := range server.Volumes {
			s.volumes[v.Name] = true
		}
	}
	made("volumes", len(s.volumes))
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
	return nil
}

// destroy is nil if nothing is left but what was there before.
func (s *generatedSite) destroy() error {
	if len(s.infra.Servers) == 0 {
		return nil // machines are not talosgen's to remove
	}
	s.fleet.LetEnd()
	args := []string{"destroy", s.env.Name, "--allow-dirty", "--yes-destroy", s.env.Cluster}
	if s.autoscaled+len(s.volumes) > 0 {
		args = append(args, "--allow-made")
	}
	if err := s.want(0, args...); err != nil {
		return err
	}
	if got := s.objects(); !maps.Equal(got, s.before) {
		return fmt.Errorf("left is %v, there was %v\n%s", got, s.before, &s.said)
	}
	return nil
}
