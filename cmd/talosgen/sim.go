package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/schemas"
)

// Flags of sim.
const (
	flagListen = "listen"
	flagSeed   = "seed"
	flagSpeed  = "speed"
	flagNodes  = "nodes"
	flagAuthor = "authorized-key"
	flagLimit  = "limit"
)

// simCommand serves a simulated project.
type simCommand struct {
	ws     workspace
	out    *console
	clock  clock
	random io.Reader
}

func (m simCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "sim",
		Usage:     "run a simulated Hetzner Cloud project",
		ArgsUsage: "[-- <command> [argument...]]",
		Description: `Serves the Hetzner Cloud API on loopback, to try plan and apply without an
account: servers, networks, firewalls, load balancers, images, addresses, volumes,
DNS zones, with their states, limits and errors. Servers have no machines behind
them, but a rescue system that can build images: it downloads nothing, and writes
a placeholder.

With --nodes, servers that are created from an image with Talos have simulated
nodes: they boot, accept configurations, form an etcd cluster, and serve a
Kubernetes API, with its controllers and Flux as far as apply and status observe
them. No containers run. Nodes are reached like real ones: through firewalls and
load balancers, and without public addresses through the NAT gateway, whose SSH
server accepts the keys of the project. Firewalls treat this machine as an allowed
source; a port that no rule opens is closed.

With a command, it runs the command with HCLOUD_ENDPOINT, HCLOUD_TOKEN and
TALOSGEN_PROXY set, and ends with it. Without a command it prints these variables
and serves until it is interrupted. The project is in memory only.

With --seed, the project begins with the objects that an environment expects:
Talos snapshots, SSH keys, DNS zones.

Examples:
   talosgen sim --seed dev -- sh                  open a shell
   talosgen sim --seed dev -- talosgen plan dev
   talosgen sim --nodes --seed dev -- talosgen apply dev
   talosgen sim --nodes --seed prod --authorized-key id_ed25519.pub -- sh
   talosgen sim --limit cores=8 --limit servers=5 -- talosgen apply dev
   talosgen sim --verbose                         log every request`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagListen, Value: "127.0.0.1:0", Usage: "`ADDRESS` and port to listen on; port 0 is any free port"},
			&cli.StringSliceFlag{Name: flagSeed, Usage: "begin with the objects that the environment `ENV` expects (repeatable)"},
			&cli.Float64Flag{Name: flagSpeed, Value: 10, Usage: "speed of actions and boots in `TIMES` that of Hetzner; 0: at once"},
			&cli.StringFlag{Name: flagAuthor, Usage: "public SSH key `FILE` for every key name that --seed adds"},
			&cli.BoolFlag{Name: flagNodes, Usage: "simulate Talos nodes behind the servers"},
			&cli.StringSliceFlag{Name: flagLimit, Usage: "limit `KIND=NUMBER` of the project, such as cores=8, servers=5 or requests=100 in an hour (repeatable)"},
			verboseFlag(),
		},
		Action: m.run,
	}
}

func (m simCommand) run(c *cli.Context) error {
	machines, err := rescuesim.New(m.random, fetchPicture)
	if err != nil {
		return fmt.Errorf("no randomness for a key: %w", err)
	}
	defer machines.Close()
	var behind hetznersim.Machines = machines
	dial := image.Dialer(machines.Dial)
	var fleet *talossim.Fleet // nil without nodes
	if c.Bool(flagNodes) {
		flux, err := m.fluxOf(c)
		if err != nil {
			return err
		}
		fleet = talossim.New(talossim.Options{Clock: m.clock, Random: m.random, Timing: talossim.DefaultTiming().Faster(c.Float64(flagSpeed)), Flux: flux})
		defer fleet.Close()
		behind, dial = talossim.NewServers(fleet, machines), firstOf(machines.Dial, fleet.Dial)
	}
	sim, err := m.newSim(c, behind, fleet)
	if err != nil {
		return err
	}
	listener, err := listenLoopback(c.Context, c.String(flagListen))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: proxied(m.logged(sim, c.Bool(flagVerbose)), dial), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	project := simulated{proxy: "http://" + listener.Addr().String(), token: sim.Token(), nodes: c.Bool(flagNodes)}
	if c.Args().Present() {
		err = m.runWith(c.Context, project, c.Args().Slice())
	} else {
		err = m.serveUntilDone(c.Context, project, served)
	}
	_ = server.Close() // nothing here is worth waiting for
	return err
}

// fluxOf is Flux for the environments that the project begins with, or else for
// those of the repository; nil outside of one, if none was named.
func (m simCommand) fluxOf(c *cli.Context) (*kubesim.Flux, error) {
	repo, err := m.ws.open(c)
	switch {
	case err != nil && c.String(flagRepo) == "":
		return nil, nil // a simulator needs none
	case err != nil:
		return nil, err
	}
	defer repo.Close()
	return simulatedFlux(c.Context, repo.Root(), c.StringSlice(flagSeed)...)
}

// serveUntilDone tells where the project is, and waits for the interruption.
func (m simCommand) serveUntilDone(ctx context.Context, p simulated, served <-chan error) error {
	text := "export " + strings.Join(p.variables(), "\nexport ") + "\n"
	if err := m.out.printData([]byte(text)); err != nil {
		return err
	}
	m.out.say("simulated Hetzner Cloud project at %s/v1; interrupt to stop it", p.proxy)
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return diag.On("sim", "cannot serve: %v", err).WithCode(diag.Remote).WithCause(err)
	}
}

// newSim makes the project that the command line describes.
func (m simCommand) newSim(c *cli.Context, machines hetznersim.Machines, fleet *talossim.Fleet) (*hetznersim.Sim, error) {
	speed := c.Float64(flagSpeed)
	if speed < 0 {
		return nil, diag.On("--"+flagSpeed, "%v is less than 0", speed).WithHint("0 ends every action at once").WithCode(diag.Usage)
	}
	token, err := newToken(m.random)
	if err != nil {
		return nil, err
	}
	limits, requests, err := projectLimits(c.StringSlice(flagLimit))
	if err != nil {
		return nil, err
	}
	sim := hetznersim.New(hetznersim.Options{Clock: m.clock, Token: token, ReadOnlyToken: token + "-readonly", ActionTime: scaled(speed), Machines: machines, Limits: limits, RateLimit: requests})
	if len(c.StringSlice(flagSeed)) == 0 {
		return sim, nil
	}
	repo, err := m.ws.open(c)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	key, err := authorizedKey(c.String(flagAuthor))
	if err != nil {
		return nil, err
	}
	for _, env := range c.StringSlice(flagSeed) {
		infra, err := renderedInfrastructure(repo.Root(), env)
		if err != nil {
			return nil, err
		}
		if err := seed(sim, infra, key); err != nil {
			return nil, err
		}
		if infra.Provider == schemas.Hetzner && fleet != nil {
			for _, dedicated := range infra.Machines {
				fleet.Add(preinstalled(dedicated)).PowerOn()
			}
		}
	}
	return sim, nil
}
