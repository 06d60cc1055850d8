package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
	"github.com/talosgen/talosgen/schemas"
)

// world is a simulated project with rescue systems, and an Image Factory.
type world struct {
	testing.TB
	sim      *hetznersim.Sim
	clock    *hetznersim.ScriptedClock
	machines *rescuesim.Machines
	factory  *factory
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, clock: hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)), factory: newFactory(t)}
	var err error
	if w.machines, err = rescuesim.New(seeded(1), w.factory.fetch); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.machines.Close)
	w.sim = hetznersim.New(hetznersim.Options{Clock: w.clock, Machines: w.machines, RateLimit: -1})
	return w
}

// seeded is randomness that is the same in every run.
func seeded(n byte) io.Reader { return rand.NewChaCha8([32]byte{n}) }

// factory stands in for the Image Factory, on loopback.
type factory struct {
	url  string
	mu   sync.Mutex
	fail func(w http.ResponseWriter) bool // answers instead, if it says so
}

func newFactory(t testing.TB) *factory {
	f := &factory{}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// content is the image behind a path: more than one piece long.
func content(path string) []byte {
	return bytes.Repeat([]byte("image "+path+"\n"), 4000)
}

func (f *factory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	fail := f.fail
	f.mu.Unlock()
	if fail == nil || !fail(w) {
		_, _ = w.Write(content(r.URL.Path))
	}
}

func (f *factory) fetch(ctx context.Context, url string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		return nil, errors.Join(errors.New(resp.Status), resp.Body.Close())
	}
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// want is the image of an architecture.
func (w *world) want(architecture string) schemas.InfraSnapshot {
	s := schemas.InfraSnapshot{
		Architecture: architecture, Build: true, BuilderType: "cpx11", BuilderLocation: "ash",
		Selector: "os=talos,talos_schematic_id=376567988ad370138ad8b2698212367b,talos_version=v1.14.1",
		Labels: map[string]string{"os": "talos", "talos_version": "v1.14.1", "managed-by": "talosgen",
			"talos_schematic_id": "376567988ad370138ad8b2698212367b"},
		URL: w.factory.url + "/image/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba/v1.14.1/hcloud-" + goArch[architecture] + ".raw.xz",
	}
	if architecture == "arm" {
		s.BuilderType, s.BuilderLocation = "cax11", "nbg1"
	}
	return s
}

// process is one execution of talosgen, which may be killed: then no byte of it
// gets anywhere.
type process struct {
	*Builder
	ctx    context.Context
	stop   context.CancelFunc
	killed atomic.Bool

	mu   sync.Mutex
	sent []string // requests, with their bodies
	told []string
}

func (w *world) process(cluster, run string) *process {
	p := &process{}
	p.ctx, p.stop = context.WithCancel(context.Background())
	w.Cleanup(p.stop)
	project := cloud.New(cloud.Options{
		Endpoint: "http://hetzner.test/v1", Token: secret.New(w.sim.Token()), HTTP: mortal{p, w.sim}, Version: "test",
		Clock: w.clock, Rand: func() float64 { return 1 },
	})
	p.Builder = &Builder{
		Project: project, Run: cloud.Run{Cluster: cluster, Owner: "ann@desk", ID: run}, Clock: w.clock, Random: seeded(run[0]),
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			if p.killed.Load() {
				return nil, errKilled
			}
			return w.machines.Dial(ctx, address)
		},
	}
	return p
}

var errKilled = &net.OpError{Op: "read", Net: "tcp", Err: errors.New("the process is dead")}

// kill ends a process at once.
func (p *process) kill() {
	p.killed.Store(true)
	p.stop()
}

// mortal is the connection of a process to the API.
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
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m.p.mu.Lock()
	m.p.sent = append(m.p.sent, fmt.Sprint(r.Method, r.URL, r.Header, string(body)))
	m.p.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, r)
	return w.Result(), r.Context().Err()
}

// run does what a run does: collects what dead ones left, and makes images.
func (p *process) run(wanted ...schemas.InfraSnapshot) ([]int64, error) {
	if _, err := p.Project.CollectBuilders(p.ctx, p.Run.Cluster); err != nil {
		return nil, err
	}
	ids, errs := make([]int64, len(wanted)), make([]error, len(wanted))
	var all sync.WaitGroup
	for i, want := range wanted {
		all.Go(func() {
			ids[i], errs[i] = p.Make(p.ctx, want, func(text string) {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.told = append(p.told, Arch(want.Architecture)+": "+text)
			})
		})
	}
	all.Wait()
	return ids, errors.Join(errs...)
}

// left is everything that a project holds besides Hetzner's own.
func (w *world) left() (snapshots []cloudplan.Image, leaks []string) {
	w.Helper()
	w.sim.ClearFaults()
	w.clock.Advance(time.Hour)
	looker := w.process("looker", "looker")
	snapshots, err := looker.Project.Snapshots(w.Context(), "", "")
	if err != nil {
		w.Fatal(err)
	}
	for _, what := range []string{"servers", "ssh_keys", "primary_ips", "firewalls"} {
		r := httptest.NewRequest(http.MethodGet, "/v1/"+what, nil)
		r.Header.Set("Authorization", "Bearer "+w.sim.Token())
		answer := httptest.NewRecorder()
		w.sim.ServeHTTP(answer, r)
		if !strings.Contains(answer.Body.String(), `"total_entries":0`) {
			leaks = append(leaks, answer.Body.String())
		}
	}
	return snapshots, leaks
}

// check wants one whole image of each architecture, and nothing else.
func (w *world) check(wanted ...schemas.InfraSnapshot) {
	w.Helper()
	snapshots, leaks := w.left()
	if len(leaks) > 0 {
		w.Errorf("left over: %s", leaks)
	}
	if len(snapshots) != len(wanted) {
		w.Fatalf("%d snapshots, not %d: %+v", len(snapshots), len(wanted), snapshots)
	}
	for _, want := range wanted {
		i := slices.IndexFunc(snapshots, func(s cloudplan.Image) bool { return s.Architecture == want.Architecture })
		if i < 0 {
			w.Fatalf("no snapshot for %s", want.Architecture)
		}
		d, _ := w.machines.Snapshot(snapshots[i].ID)
		path := strings.TrimPrefix(want.URL, w.factory.url)
		if !bytes.Equal(d.Content, content(path)) || !d.Complete || d.On {
			w.Errorf("%s: the snapshot holds %d bytes of %s; complete: %v, taken while on: %v", want.Architecture, len(d.Content), d.URL, d.Complete, d.On)
		}
		for key, value := range want.Labels {
			if snapshots[i].Labels[key] != value {
				w.Errorf("%s: label %s is %q", want.Architecture, key, snapshots[i].Labels[key])
			}
		}
	}
}
