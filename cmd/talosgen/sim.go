package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// Flags of sim.
const (
	flagListen = "listen"
	flagSeed   = "seed"
	flagSpeed  = "speed"
	flagNodes  = "nodes"
	flagAuthor = "authorized-key"
)

func simCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:      "sim",
		Usage:     "simulate a Hetzner Cloud project, to try plan and apply without an account",
		ArgsUsage: "[-- <command> [argument...]]",
		Description: `Serves the Hetzner Cloud API on loopback: servers, networks, firewalls, load
balancers, images, addresses, volumes, DNS zones, with their states, limits and
errors. There are no machines behind the servers, but for a rescue system that
images can be made with: it downloads nothing, and writes a picture of one.

With --nodes there are simulated Talos nodes behind servers that are made from
an image with Talos: they boot, take configurations, form an etcd, and serve a
Kubernetes API with what controllers and Flux do there, as far as apply and
status see it. Nothing runs on them. They are reached as real ones are: through
firewalls and load balancers, and those without public addresses through the NAT
gateway, whose SSH server lets in the keys of the project. A firewall takes this
machine for one that its rules name; a port that no rule opens stays closed.

With a command, it runs the command with HCLOUD_ENDPOINT, HCLOUD_TOKEN and
TALOSGEN_PROXY set, and ends with it. Without one it prints these variables, for talosgen and every
other program that uses the API, and serves until it is interrupted. Then the
project is gone.

With --seed, the project begins with what an environment expects to find: the
snapshots with Talos that its servers are made from, SSH keys, DNS zones.

Examples:
   talosgen sim --seed dev -- sh                  a shell to try things in
   talosgen sim --seed dev -- talosgen plan dev
   talosgen sim --nodes --seed dev -- talosgen apply dev
   talosgen sim --nodes --seed prod --authorized-key id_ed25519.pub -- sh
   talosgen sim --verbose                         show every request`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagListen, Value: "127.0.0.1:0", Usage: "`ADDRESS` and port to serve on; port 0 is any free one"},
			&cli.StringSliceFlag{Name: flagSeed, Usage: "begin with what the environment `ENV` expects to find; may be repeated"},
			&cli.Float64Flag{Name: flagSpeed, Value: 10, Usage: "`TIMES` as fast as at Hetzner do actions end, and nodes boot; 0: at once"},
			&cli.StringFlag{Name: flagAuthor, Usage: "public SSH key in `FILE`: the one that --seed gives the project, under every name that an environment uses"},
			&cli.BoolFlag{Name: flagNodes, Usage: "simulate Talos nodes behind the servers"},
			verboseFlag(),
		},
		Action: w.simAction,
	}
}

func (w *world) simAction(c *cli.Context) error {
	machines, err := rescuesim.New(w.random, fetchPicture)
	if err != nil {
		return fmt.Errorf("no randomness for a key: %w", err)
	}
	defer machines.Close()
	var behind hetznersim.Machines = machines
	dial := apply.Dialer(machines.Dial)
	if c.Bool(flagNodes) {
		flux, err := w.fluxOf(c)
		if err != nil {
			return err
		}
		fleet := talossim.New(talossim.Options{Clock: clock{w}, Random: w.random, Timing: talossim.DefaultTiming().Faster(c.Float64(flagSpeed)), Flux: flux})
		defer fleet.Close()
		behind, dial = talossim.NewServers(fleet, machines), firstOf(machines.Dial, fleet.Dial)
	}
	sim, err := w.newSim(c, behind)
	if err != nil {
		return err
	}
	listener, err := listenLoopback(c.Context, c.String(flagListen))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: proxied(w.logged(sim, c.Bool(flagVerbose)), dial), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	project := simulated{proxy: "http://" + listener.Addr().String(), token: sim.Token(), nodes: c.Bool(flagNodes)}
	if c.Args().Present() {
		err = w.runWith(c.Context, project, c.Args().Slice())
	} else {
		err = w.serveUntilDone(c.Context, project, served)
	}
	_ = server.Close() // nothing here is worth waiting for
	return err
}

// fluxOf is Flux for the environments that the project begins with, or else for
// those of the repository; nil outside of one, if none was named.
func (w *world) fluxOf(c *cli.Context) (*kubesim.Flux, error) {
	repo, err := w.openRepo(c)
	switch {
	case err != nil && c.String(flagRepo) == "":
		return nil, nil // a simulator needs none
	case err != nil:
		return nil, err
	}
	defer repo.Close()
	return simulatedFlux(c.Context, repo.Root(), c.StringSlice(flagSeed)...)
}

// fetchPicture stands for the download of an image, without a network.
func fetchPicture(_ context.Context, url string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(strings.Repeat("in place of "+url+"\n", 2000))), nil
}

// firstOf connects to whom one of several ways leads: the last one's error counts.
func firstOf(ways ...apply.Dialer) apply.Dialer {
	return func(ctx context.Context, address string) (conn net.Conn, err error) {
		for _, dial := range ways {
			if conn, err = dial(ctx, address); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}
}

// simulated is where a simulated project is, and what it has.
type simulated struct {
	proxy, token string
	nodes        bool
}

// variables lead talosgen, and other programs, to it.
func (p simulated) variables() []string {
	all := []string{endpointVariable + "=" + p.proxy + "/v1", tokenVariable + "=" + p.token, proxyVariable + "=" + p.proxy}
	if p.nodes {
		all = append(all, simulatedNodes+"="+runKubernetes)
	}
	return all
}

// lookup finds a variable among them.
func (p simulated) lookup(name string) (string, bool) {
	for _, variable := range p.variables() {
		if value, found := strings.CutPrefix(variable, name+"="); found {
			return value, true
		}
	}
	return "", false
}

// serveUntilDone tells where the project is, and waits for the interruption.
func (w *world) serveUntilDone(ctx context.Context, p simulated, served <-chan error) error {
	text := "export " + strings.Join(p.variables(), "\nexport ") + "\n"
	if err := w.printData([]byte(text)); err != nil {
		return err
	}
	w.say("a simulated project of Hetzner Cloud is at %s/v1; interrupt to end it", p.proxy)
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return diag.On("sim", "cannot serve: %v", err).WithCode(diag.Remote).WithCause(err)
	}
}

// runWith runs a command that finds the project by its variables, and ends as
// the command does.
func (w *world) runWith(ctx context.Context, p simulated, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), p.variables()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = w.stdin, w.stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.Exited():
		return commandExit(exit.ExitCode())
	}
	return diag.On(args[0], "cannot be run: %v", reasonOf(err)).WithCode(diag.Usage).WithCause(err)
}

// commandExit is the exit code of a command that talosgen ran, and as which it
// ends: the command has said what is wrong.
type commandExit int

func (e commandExit) Error() string {
	return fmt.Sprintf("the command ended with exit code %d", int(e))
}

// newSim makes the project that the command line describes.
func (w *world) newSim(c *cli.Context, machines hetznersim.Machines) (*hetznersim.Sim, error) {
	speed := c.Float64(flagSpeed)
	if speed < 0 {
		return nil, diag.On("--"+flagSpeed, "%v is less than 0", speed).WithHint("0 ends every action at once").WithCode(diag.Usage)
	}
	token, err := w.newToken()
	if err != nil {
		return nil, err
	}
	sim := hetznersim.New(hetznersim.Options{Clock: clock{w}, Token: token, ActionTime: scaled(speed), Machines: machines})
	if len(c.StringSlice(flagSeed)) == 0 {
		return sim, nil
	}
	repo, err := w.openRepo(c)
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
	}
	return sim, nil
}

// newToken makes a token for a simulated project.
func (w *world) newToken() (string, error) {
	token := make([]byte, 32)
	if _, err := io.ReadFull(w.random, token); err != nil {
		return "", fmt.Errorf("no randomness for a token: %w", err)
	}
	return hex.EncodeToString(token), nil
}

// scaled is how long actions take, so many times as fast as at Hetzner.
func scaled(speed float64) func(string) time.Duration {
	if speed == 0 {
		return hetznersim.Instant
	}
	return func(command string) time.Duration {
		return time.Duration(float64(hetznersim.DefaultActionTime(command)) / speed)
	}
}

// listenLoopback listens where only this machine can connect: the API has no
// encryption here.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err == nil {
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			err = errors.New("not an address of loopback")
		}
	}
	if err != nil {
		return nil, diag.On("--"+flagListen, "%q: %v", address, err).
			WithHint("such as 127.0.0.1:8443 or [::1]:0: only this machine may connect").WithCode(diag.Usage)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, diag.On("--"+flagListen, "%v", err).WithHint("port 0 is any free one").WithCode(diag.Usage).WithCause(err)
	}
	return listener, nil
}

// logged shows the requests that a simulator has answered.
func (w *world) logged(sim *hetznersim.Sim, show bool) http.Handler {
	if !show {
		return sim
	}
	var line sync.Mutex
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		status := &statusWriter{ResponseWriter: rw}
		sim.ServeHTTP(status, r)
		line.Lock()
		defer line.Unlock()
		w.say("%s %s: %d", r.Method, r.URL.RequestURI(), status.status)
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status and sends it.
func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}
