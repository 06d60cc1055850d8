package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

// wire takes requests to a simulated project, without a network.
type wire struct {
	sim   http.Handler
	after func(*http.Request) // is told of each request that had its effect; may be nil
}

// RoundTrip answers as the project does.
func (w wire) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			err = io.ErrUnexpectedEOF // the connection is closed
		} else if p != nil {
			panic(p)
		}
	}()
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	arrived := req.Clone(req.Context())
	if arrived.Body == nil {
		arrived.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	w.sim.ServeHTTP(answer, arrived)
	if w.after != nil {
		w.after(req)
	}
	return answer.Result(), nil
}

// deaf is a pipe whose reader has gone.
type deaf struct{}

// Write fails.
func (deaf) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// terminal is a repository with a simulated project, and somebody at a terminal.
type terminal struct {
	t   *testing.T
	dir string
	sim simProject

	after func(*http.Request) // of [wire]
	deaf  bool                // nobody reads stdout
	// Where the project is said to be; empty: on this machine.
	endpoint string
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	f, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	b, _ := terminalIn(t, f.rendered, "dev")
	return b
}

// terminalIn has a repository with these files, and a project with what an
// environment expects to find.
func terminalIn(t *testing.T, repo files, env string) (*terminal, schemas.Infrastructure) {
	t.Helper()
	b := &terminal{t: t, dir: t.TempDir(), sim: simProject{hetznersim.New(hetznersim.Options{
		Clock: hetznersim.NewClock(fixedTime()), Token: simToken, ActionTime: hetznersim.Instant,
	})}}
	if err := repo.writeMissing(b.dir); err != nil {
		t.Fatal(err)
	}
	infra, err := renderedInfrastructure(b.dir, env)
	if err != nil {
		t.Fatal(err)
	}
	if err := seed(b.sim.Sim, infra, ""); err != nil {
		t.Fatal(err)
	}
	return b, infra
}

// run runs a command while somebody types, and returns its exit code and what
// the terminal shows in the end. The token must not be there.
func (b *terminal) run(typed string, args ...string) (code int, shown string) {
	b.t.Helper()
	f, err := prepared()
	if err != nil {
		b.t.Fatal(err)
	}
	w, stdout, stderr := testApp()
	clock := b.sim.Clock()
	w.console.stdin = io.TeeReader(strings.NewReader(typed), stderr) // the terminal shows it
	w.console.answers, w.console.terminal = true, true
	w.console.size = func() size { return size{100, 40} }
	w.cwd = func() (string, error) { return b.dir, nil }
	w.clock.now, w.http, w.random = clock.Now, wire{b.sim, b.after}, f.random
	w.clock.sleep = func(ctx context.Context, d time.Duration) error {
		if d == redrawEvery {
			<-ctx.Done() // nobody looks in between
			return ctx.Err()
		}
		return clock.Sleep(ctx, d)
	}
	w.vars = func(name string) (string, bool) {
		v, ok := map[string]string{
			"SOPS_AGE_KEY": string(f.operatorKey), tokenVariable: simToken, endpointVariable: cmp.Or(b.endpoint, "http://127.0.0.1:1/v1"), "NO_COLOR": "1",
		}[name]
		return v, ok
	}
	if b.deaf {
		w.console.stdout = deaf{}
	}
	code = run(append([]string{"talosgen"}, args...), w)
	shown = seen(stderr.String()) + "\n" + stdout.String()
	if f.leaks(shown) || bytes.Contains(stderr.Bytes(), []byte(simToken)) {
		b.t.Errorf("there is a secret in\n%s", shown)
	}
	return code, shown
}

func (b *terminal) names(path string) int {
	b.t.Helper()
	var answer map[string]json.RawMessage
	var list []any
	if err := errors.Join(b.sim.call(http.MethodGet, "/"+path, nil, &answer), json.Unmarshal(answer[path], &list)); err != nil {
		b.t.Fatal(err)
	}
	return len(list)
}

// TestApplyShipped makes what the shipped environments say, and nothing else,
// in an empty project; then there is nothing to do, which takes few requests;
// then it removes them, and nothing is left but what was there before.
func TestApplyShipped(t *testing.T) {
	repo, err := exampleFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range []string{"dev", "prod", "talos-k8s"} {
		t.Run(env, func(t *testing.T) {
			b, infra := terminalIn(t, repo, env)
			if code, shown := b.run("", "apply", env, "--allow-dirty", "--yes"); code != 0 {
				t.Fatalf("exit code %d\n%s", code, shown)
			}
			for path, want := range map[string]int{
				"servers": len(infra.Servers), "networks": 1, "firewalls": len(infra.Firewalls), "load_balancers": len(infra.LoadBalancers),
				"placement_groups": len(infra.PlacementGroups), "floating_ips": len(infra.FloatingIPs), "volumes": 0,
			} {
				if got := b.names(path); got != want {
					t.Errorf("%d %s, want %d", got, path, want)
				}
			}
			b.sim.ResetCalls()
			if code, shown := b.run("", "apply", env, "--allow-dirty", "--yes"); code != 0 || len(b.sim.Calls()) > 20 || !strings.Contains(shown, "nothing to do") {
				t.Errorf("the second time: exit code %d, %d requests\n%s", code, len(b.sim.Calls()), shown)
			}
			if code, shown := b.run("", "destroy", env, "--allow-dirty", "--yes-destroy", infra.Cluster); code != 0 {
				t.Errorf("destroy: exit code %d\n%s", code, shown)
			}
			for _, path := range []string{"servers", "networks", "firewalls", "load_balancers", "placement_groups", "primary_ips", "floating_ips"} {
				if got := b.names(path); got != 0 {
					t.Errorf("%d %s are left", got, path)
				}
			}
		})
	}
}

// TestApplyAsks asks before it changes something, on a terminal.
func TestApplyAsks(t *testing.T) {
	b := newTerminal(t)
	for typed, want := range map[string]string{"n\n": "n", "\n": "", "": "", "yess\n": "yess"} {
		code, shown := b.run(typed, "apply", "dev", "--allow-dirty")
		if code != int(diag.Differences) || !strings.Contains(shown, "make these changes? [y/N]") ||
			!strings.Contains(shown, "nothing was changed") || b.names("networks") > 0 {
			t.Errorf("typed %q (%s): exit code %d\n%s", typed, want, code, shown)
		}
	}
	code, shown := b.run("y\n", "apply", "dev", "--allow-dirty")
	if code != 0 || b.names("servers") != 3 || !strings.Contains(shown, "\ndev: done in ") {
		t.Errorf("exit code %d\n%s", code, shown)
	}
	for _, once := range []string{"dev: 10 to create", "[y/N]", "infrastructure: 10 steps", "dev: done in "} {
		if strings.Count(shown, once) != 1 {
			t.Errorf("%q is shown %d times: one plan, one question, one view, one report\n%s", once, strings.Count(shown, once), shown)
		}
	}
	if code, shown = b.run("", "apply", "dev", "--allow-dirty"); code != 0 || strings.Contains(shown, "[y/N]") {
		t.Errorf("with nothing to do: exit code %d\n%s", code, shown)
	}
}

// TestDestroyAsks asks for the name of the cluster, and about what the cluster
// made.
func TestDestroyAsks(t *testing.T) {
	b := newTerminal(t)
	if code, shown := b.run("", "apply", "dev", "--allow-dirty", "--yes"); code != 0 {
		t.Fatal(shown)
	}
	for _, typed := range []string{"", "\n", "y\n", "prod\n", "DEV\n"} {
		code, shown := b.run(typed, "destroy", "dev", "--allow-dirty")
		if code != int(diag.Differences) || !strings.Contains(shown, "type the name of the cluster (dev) to remove it:") || b.names("servers") != 3 {
			t.Errorf("typed %q: exit code %d\n%s", typed, code, shown)
		}
	}

	// A volume with data, as the CSI driver makes it.
	err := b.sim.call(http.MethodPost, "/volumes", map[string]any{
		"name": "pvc-1", "size": 10, "location": "hel1", "labels": map[string]string{"managed-by": "csi-driver", schemas.LabelCluster: "dev"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	code, shown := b.run("n\ndev\n", "destroy", "dev", "--allow-dirty")
	if code != 0 || !strings.Contains(shown, "also remove objects that the cluster itself created") || b.names("volumes") != 1 || b.names("servers") != 0 {
		t.Errorf("without consent to the volume: exit code %d, %d volumes, %d servers\n%s", code, b.names("volumes"), b.names("servers"), shown)
	}
	if code, shown = b.run("y\ndev\n", "destroy", "dev", "--allow-dirty"); code != 0 || b.names("volumes") != 0 {
		t.Errorf("with consent to the volume: exit code %d\n%s", code, shown)
	}
}

// interruptSelf sends this process what Ctrl-C sends, and returns when it has
// arrived.
func interruptSelf(t *testing.T) {
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, os.Interrupt)
	defer signal.Stop(arrived)
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Error(err)
	}
	<-arrived
}

// TestApplyPanics shows no token when something goes wrong that nobody thought
// of, in whatever goroutine.
func TestApplyPanics(t *testing.T) {
	b := newTerminal(t)
	b.sim.Inject(hetznersim.Fault{Method: http.MethodPost, Path: "/networks", Then: func() { panic("with " + simToken) }})
	code, shown := b.run("", "apply", "dev", "--allow-dirty", "--yes")
	if code != internalError || !strings.Contains(shown, "talosgen: internal error: with ******") {
		t.Errorf("exit code %d\n%s", code, shown)
	}
}

// TestApplyInterrupted interrupts apply in the middle: it says so, gives the
// lock back, and goes on the next time.
func TestApplyInterrupted(t *testing.T) {
	b := newTerminal(t)
	b.after = func(req *http.Request) {
		if req.Method == http.MethodPost && req.URL.Path == "/v1/servers" {
			interruptSelf(t)
			<-req.Context().Done()
		}
	}
	code, shown := b.run("", "apply", "dev", "--allow-dirty", "--yes")
	if code != int(diag.Interrupted) || !strings.Contains(shown, "talosgen: interrupted") {
		t.Errorf("exit code %d\n%s", code, shown)
	}
	for _, said := range []string{"dev: interrupted after ", "left to do:\n", "next:\n  talosgen apply dev --allow-dirty --yes\n"} {
		if !strings.Contains(shown, said) {
			t.Errorf("the report does not say %q\n%s", said, shown)
		}
	}
	b.after = nil
	if code, shown = b.run("", "apply", "dev", "--allow-dirty", "--yes"); code != 0 || b.names("servers") != 3 {
		t.Errorf("the next time: exit code %d, %d servers\n%s", code, b.names("servers"), shown)
	}
	if code, shown = b.run("", "plan", "dev", "--allow-dirty"); code != 0 {
		t.Errorf("afterwards: exit code %d\n%s", code, shown)
	}
}
