package robot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/robotsim"
)

const (
	password  = "canary-robot-password-0123"
	number    = 321
	imageURL  = "https://factory.talos.dev/image/" + schematic + "/v1.14.1/metal-amd64.raw.xz"
	schematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
)

// content is the disk image.
var content = bytes.Repeat([]byte("talos "), 50_000)

// world is a simulated account with a server.
type world struct {
	testing.TB
	sim     *robotsim.Sim
	clock   *hetznersim.ScriptedClock
	fetch   func(url string) (io.ReadCloser, error)
	begun   int // starts from a disk
	forgets []string
}

func newWorld(t testing.TB, disks ...robotsim.Disk) *world {
	t.Helper()
	w := &world{TB: t, clock: hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	w.fetch = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	var err error
	w.sim, err = robotsim.New(robotsim.Options{
		User: "#ws+robot", Password: password, Clock: w.clock, Random: rand.NewChaCha8([32]byte{1}), Boot: 80 * time.Second,
		Fetch:   func(_ context.Context, url string) (io.ReadCloser, error) { return w.fetch(url) },
		Started: func(robotsim.Server) { w.begun++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.sim.Close)
	if len(disks) == 0 {
		disks = []robotsim.Disk{{Path: "/dev/nvme0n1", Model: "SAMSUNG MZVL", Serial: "S1", WWN: "eui.01", Size: 512_000_000_000}}
	}
	w.sim.Add(robotsim.Server{Number: number, Name: "home-1", Product: "AX41-NVMe", DC: "FSN1-DC10", IP: "203.0.113.10", IPv6Net: "2001:db8:1::", Disks: disks})
	return w
}

func (w *world) target() Target {
	disk, err := node.SelectDisk([]byte("disk: /dev/nvme0n1"), "")
	if err != nil {
		w.Fatal(err)
	}
	return Target{
		Node: "home-1", Number: number, Addresses: []string{"203.0.113.10/26"}, Disk: disk,
		Image: Image{Factory: "factory.talos.dev", Schematic: schematic, Version: "v1.14.1"},
	}
}

// process is one execution of talosgen, which may be killed: then no byte of it gets
// anywhere.
type process struct {
	*Installer
	ctx    context.Context
	stop   context.CancelFunc
	killed atomic.Bool

	mu   sync.Mutex
	told []string
}

func (w *world) process(run byte) *process {
	p := &process{}
	p.ctx, p.stop = context.WithCancel(context.Background())
	w.Cleanup(p.stop)
	p.Installer = &Installer{
		Client: w.client(mortal{p, w.sim}, password, p.tell), Clock: w.clock, Random: rand.NewChaCha8([32]byte{run}),
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			if p.killed.Load() {
				return nil, errKilled
			}
			return w.sim.Dial(ctx, address)
		},
		Keep:   func(context.Context) error { return nil },
		Forget: func(_ context.Context, node string) error { w.forgets = append(w.forgets, node); return nil },
		Await: func(context.Context, string) error {
			if d := w.sim.Written(number, "/dev/nvme0n1"); !w.sim.State(number).FromDisk || !d.Complete {
				return errors.New("it is not Talos that runs")
			}
			return nil
		},
	}
	return p
}

func (w *world) client(transport http.RoundTripper, password string, log func(string)) *Client {
	w.Helper()
	c, err := New(Account{
		Endpoint: "https://robot.test", User: secret.New("#ws+robot"), Password: secret.New(password), HTTP: transport, Version: "test",
		Clock: w.clock, Log: log,
	})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

func (p *process) tell(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, text)
}

// run does what the command does: observe, plan, install.
func (p *process) run(t Target) error {
	o, err := p.Client.Observe(p.ctx, t.Number)
	if err != nil {
		return err
	}
	plan := Make("home", []Target{t}, []Observed{o})
	p.tell(plan.String())
	if len(plan.Refusals) > 0 {
		return plan.Refusals[0].Problem()
	}
	for _, e := range plan.Todo() {
		if err := p.Install(p.ctx, e, p.tell); err != nil {
			return err
		}
	}
	return nil
}

var errKilled = &net.OpError{Op: "read", Net: "tcp", Err: errors.New("the process is dead")}

func (p *process) kill() {
	p.killed.Store(true)
	p.stop()
}

// mortal is the connection of a process to the web service.
type mortal struct {
	p       *process
	handler http.Handler
}

func (m mortal) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	if m.p.killed.Load() {
		return nil, errKilled
	}
	defer func() {
		if gone := recover(); gone == http.ErrAbortHandler {
			err = errKilled
		} else if gone != nil {
			panic(gone)
		}
	}()
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, r)
	return w.Result(), r.Context().Err()
}

// check wants a server that runs Talos, whose account is as before.
func (w *world) check() {
	w.Helper()
	state, disk := w.sim.State(number), w.sim.Written(number, "/dev/nvme0n1")
	if !bytes.Equal(disk.Content, content) || !disk.Complete || disk.URL != imageURL {
		w.Errorf("the disk holds %d bytes of %s, complete: %v", len(disk.Content), disk.URL, disk.Complete)
	}
	if state.Active || state.InRescue || !state.FromDisk {
		w.Errorf("the server is %+v", state)
	}
	if keys := w.sim.Keys(); len(keys) > 0 {
		w.Errorf("keys are left: %v", keys)
	}
}

func (w *world) calls() string {
	var all []string
	for _, c := range w.sim.Calls() {
		all = append(all, c.String())
	}
	return "\n" + strings.Join(all, "\n")
}
