package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// life is a cluster from nothing on, in simulators that outlive the processes
// that work on it.
type life struct {
	t     *testing.T
	f     *fixture
	trees []files
	dir   string // of the repository
	home  string
	clock *aheadClock
	sim   *hetznersim.Sim
	fleet *talossim.Fleet
	url   string

	commit    atomic.Int32  // the tree that is in Git
	processes int           // that were run
	work      time.Duration // of theirs
}

// aheadClock is real time, and more.
type aheadClock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *aheadClock) by() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead
}

// Now returns the time.
func (c *aheadClock) Now() time.Time { return time.Now().Add(c.by()) }

// Sleep waits in real time.
func (c *aheadClock) Sleep(ctx context.Context, d time.Duration) error { return sleepFor(ctx, d/100) }

func newLife(t *testing.T, trees []files) *life {
	t.Helper()
	f, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	l := &life{t: t, f: f, trees: trees, dir: scratchDir(t), home: t.TempDir(), clock: &aheadClock{}}
	machines, err := rescuesim.New(rand.Reader, fetchPicture)
	if err != nil {
		t.Fatal(err)
	}
	timing := talossim.DefaultTiming().Faster(0)
	timing.Retry = 200 * time.Millisecond // there are hours of it
	l.fleet = talossim.New(talossim.Options{Clock: l.clock, Random: rand.Reader, Timing: timing, Flux: &kubesim.Flux{
		Installed: true,
		Revision:  func(branch string) string { return fmt.Sprintf("%s@sha1:%040d", branch, l.commit.Load()) },
		Read:      func(path string) ([]map[string]any, error) { return kubesim.Manifests(os.DirFS(l.dir), path) },
	}})
	l.sim = hetznersim.New(hetznersim.Options{
		Clock: l.clock, Token: simToken, RateLimit: -1, ActionTime: hetznersim.Instant, Machines: talossim.NewServers(l.fleet, machines),
	})
	server := httptest.NewServer(proxied(l.sim, firstOf(machines.Dial, l.fleet.Dial)))
	l.url = server.URL
	t.Cleanup(func() { server.Close(); l.fleet.Close(); machines.Close() })
	return l
}

// begin begins a chapter.
func (l *life) begin(c chapter) {
	l.t.Helper()
	if err := os.RemoveAll(l.dir + "/rendered"); err != nil {
		l.t.Fatal(err)
	}
	for name, text := range l.trees[c.tree] {
		if err := writeFile(l.dir+"/"+name, []byte(text)); err != nil {
			l.t.Fatal(err)
		}
	}
	l.commit.Store(int32(c.tree))
	if c.happens != nil {
		c.happens(l)
	}
}

// later lets time pass.
func (l *life) later(d time.Duration) {
	l.clock.mu.Lock()
	defer l.clock.mu.Unlock()
	l.clock.ahead += d
}

// How long it takes until what dead processes leave behind is theirs no more.
const (
	lifeLock    = 11 * time.Minute
	lifeSession = 125 * time.Minute
)

// lifeCalls are calls to Hetzner, and to nodes with Kubernetes.
type lifeCalls struct{ hetzner, nodes int }

// complete runs a command to its end, and returns which calls that took.
func (l *life) complete(command []string) lifeCalls {
	l.t.Helper()
	l.sim.ResetCalls()
	l.fleet.ResetCalls()
	p := l.process(command)
	if !p.run() {
		l.t.Fatalf("%s: %v\n%s", strings.Join(command, " "), p.err, p.output.String())
	}
	if broken := l.fleet.Violations(); len(broken) > 0 {
		l.t.Fatal(broken)
	}
	return lifeCalls{len(l.sim.Calls()), len(l.fleet.Calls())}
}

// lifeProcess is a process of talosgen.
type lifeProcess struct {
	life   *life
	cmd    *exec.Cmd
	output bytes.Buffer
	err    error
	killed bool
}

func (l *life) process(command []string) *lifeProcess {
	p := &lifeProcess{life: l, cmd: exec.Command("talosgen", append([]string{"-C", l.dir}, command...)...)}
	p.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.home, "SOPS_AGE_KEY=" + string(l.f.operatorKey), hurryVariable + "=1", aheadVariable + "=" + l.clock.by().String(),
		endpointVariable + "=" + l.url + "/v1", tokenVariable + "=" + simToken, proxyVariable + "=" + l.url, simulatedNodes + "=" + runKubernetes,
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	return p
}

// kill ends the process as a power failure does.
func (p *lifeProcess) kill() { _ = p.cmd.Process.Kill() }

// lifeHangs is longer than a run waits for anything: who takes so long waits for what does
// not come.
const lifeHangs = 15 * time.Minute

// run runs it, and reports whether it has ended well. Nothing secret is said.
func (p *lifeProcess) run() bool {
	var hangs atomic.Bool
	bound := time.AfterFunc(lifeHangs, func() { hangs.Store(true); _ = p.cmd.Process.Signal(syscall.SIGQUIT) })
	p.err = p.cmd.Run()
	if bound.Stop(); hangs.Load() {
		var machines []string
		for _, m := range p.life.fleet.Machines() {
			machines = append(machines, m.Name()+" "+m.Stage())
		}
		p.life.t.Fatalf("it waits for ever, and the machines are %q, the servers\n%v\n%s", machines, p.life.list("servers"), p.output.String())
	}
	state := p.cmd.ProcessState
	if state == nil {
		p.life.t.Fatal(p.err)
	}
	p.life.processes++
	p.life.work += state.UserTime() + state.SystemTime()
	p.killed = !state.Exited()
	if p.life.f.leaks(p.output.String()) {
		p.life.t.Errorf("there is a secret in what a process said")
	}
	return p.err == nil
}

// call makes a request to the project.
func (l *life) call(method, path string, body any) (answer map[string]any) {
	l.t.Helper()
	p := &simProject{l.sim}
	if err := p.call(method, path, body, &answer); err != nil {
		l.t.Fatal(err)
	}
	return answer
}

// list is all of a kind in the project.
func (l *life) list(kind string) (all []map[string]any) {
	l.t.Helper()
	text, err := json.Marshal(l.call(http.MethodGet, "/"+kind+"?per_page=50", nil)[kind])
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

func (l *life) id(object map[string]any) string {
	id, _ := object["id"].(float64)
	return strconv.FormatInt(int64(id), 10)
}

// deleteServer deletes a server by hand.
func (l *life) deleteServer(name string) {
	l.t.Helper()
	for _, s := range l.list("servers") {
		if s["name"] == name {
			l.call(http.MethodPost, "/servers/"+l.id(s)+"/actions/change_protection", map[string]any{"delete": false, "rebuild": false})
			l.call(http.MethodDelete, "/servers/"+l.id(s), nil)
		}
	}
}
