package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/internal/sim/quietclock"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/schemas"
)

// trySite is what `try` talks to instead of Hetzner Cloud and machines: a project, its nodes, and
// a way there over loopback, on a clock of their own.
type trySite struct {
	infra   schemas.Infrastructure
	clock   *quietclock.Clock
	rescue  *rescuesim.Machines
	fleet   *talossim.Fleet
	sim     *hetznersim.Sim
	signers reach.Signers
	server  *http.Server
	http    *http.Transport
	place   simulated
}

// newTrySite makes a site as an environment finds it that was never applied: a
// project with nothing but what apply does not make itself, or machines that
// wait for their configuration.
func newTrySite(c *cli.Context, a *app, env string) (*trySite, error) {
	return newSite(c, a, env, (*trySite).populate)
}

// populating makes what a site begins with. The key lets in to what has SSH.
type populating func(t *trySite, ctx context.Context, random io.Reader, key secret.String, flux *kubesim.Flux) error

// newSite makes a site with what is populated.
func newSite(c *cli.Context, a *app, env string, populate populating) (site *trySite, err error) {
	repo, err := a.workspace().open(c)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	site = &trySite{http: &http.Transport{}, server: &http.Server{ReadHeaderTimeout: time.Minute}}
	if site.infra, err = renderedInfrastructure(repo.Root(), env); err != nil {
		return nil, err
	}
	key, err := sshkey.New(a.random)
	if err != nil {
		return nil, fmt.Errorf("no randomness for an SSH key: %w", err)
	}
	a.console.masker.Add(key)
	site.clock = quietclock.New(a.clock.now(), quietclock.Outside{Now: a.clock.now, Pause: func(d time.Duration) { _ = a.clock.sleep(context.Background(), d) }})
	site.signers = reach.FileKeys([]string{"try"}, [][]byte{[]byte(key.Reveal())}, nil)
	flux, err := simulatedFlux(c.Context, repo.Root(), env)
	if err != nil {
		return nil, err
	}
	if err := populate(site, c.Context, a.random, key, flux); err != nil {
		return nil, err
	}
	return site, site.serve(c.Context)
}

// populate makes the project and the machines.
func (t *trySite) populate(ctx context.Context, random io.Reader, key secret.String, flux *kubesim.Flux) (err error) {
	if t.rescue, err = rescuesim.New(random, fetchPicture); err != nil {
		return fmt.Errorf("no randomness for a key: %w", err)
	}
	t.fleet = talossim.New(talossim.Options{Clock: t.clock, Random: random, Flux: flux})
	token, err := newToken(random)
	if err != nil {
		return err
	}
	t.sim = hetznersim.New(hetznersim.Options{Clock: t.clock, Token: token, Machines: talossim.NewServers(t.fleet, t.rescue)})
	public, err := sshkey.Public(key)
	if err != nil {
		return err
	}
	empty := t.infra
	empty.Images = nil // apply makes them
	if err := seed(t.sim, empty, public); err != nil {
		return err
	}
	for _, m := range t.infra.Machines {
		t.fleet.Add(preinstalled(m)).PowerOn()
	}
	return t.clock.Sleep(ctx, talossim.DefaultTiming().Boot) // until they stand there
}

// preinstalled is a machine as it stands there before it is configured.
func preinstalled(m schemas.InfraMachine) talossim.Spec {
	spec := talossim.Spec{Name: m.Name, UUID: m.Match.UUID, Serial: m.Match.Serial}
	if m.Match.MAC != "" {
		spec.MACs = []string{m.Match.MAC}
	}
	for _, address := range []string{m.BootAddress, m.Address} {
		if host, _, _ := strings.Cut(address, "/"); host != "" {
			spec.Public = append(spec.Public, host)
		}
	}
	if m.PrivateIP != "" {
		spec.Private, spec.Network, spec.Robot = []string{m.PrivateIP}, talossim.PrivateNetwork, m.Name
		if m.RobotServer != 0 {
			spec.Robot = strconv.FormatInt(m.RobotServer, 10)
		}
	}
	if m.InstallDisk != "" {
		spec.Disks = []talossim.Disk{disk(m.InstallDisk)}
	}
	return spec
}

// disk is a disk with a path, or with a symbolic link.
func disk(path string) talossim.Disk {
	d := talossim.Disk{Path: path, Model: "simulated", Size: 256 << 30}
	if strings.HasPrefix(path, "/dev/disk/") {
		d.Path, d.Symlinks = "/dev/sda", []string{path}
	}
	return d
}

// serve serves the project, and the way to nodes, on loopback.
func (t *trySite) serve(ctx context.Context) error {
	listener, err := listenLoopback(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	t.place = simulated{proxy: "http://" + listener.Addr().String(), token: t.sim.Token(), nodes: true}
	t.server.Handler = proxied(t.sim, firstOf(t.rescue.Dial, t.fleet.Dial))
	go func() { _ = t.server.Serve(t.clock.Watch(listener)) }() // it ends with close
	return nil
}

// close ends everything. Nothing is left: it was in memory only.
func (t *trySite) close() {
	t.http.CloseIdleConnections()
	_ = t.server.Close() // nothing there is worth waiting for
	t.fleet.Close()
	t.rescue.Close()
}

// app is the app with the site in the place of Hetzner, nodes and time.
func (t *trySite) app(outside *app) *app {
	inside := *outside
	inside.clock, inside.http, inside.signers = clock{t.clock.Now, t.clock.Sleep}, t.http, t.signers
	inside.vars = func(name string) (string, bool) {
		if value, ours := t.place.lookup(name); ours {
			return value, true
		}
		return outside.vars(name)
	}
	return &inside
}

// about says what was simulated.
func (t *trySite) about() string {
	n := len(t.infra.Machines)
	switch {
	case n > 0 && t.infra.Provider == schemas.Hetzner:
		return "simulated: an empty Hetzner Cloud project, and " + natural.Count(n, "dedicated server") + " in maintenance mode"
	case n > 0:
		return "simulated: " + natural.Count(n, "machine") + " in maintenance mode"
	}
	return "simulated: an empty Hetzner Cloud project"
}
