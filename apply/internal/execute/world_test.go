package execute_test

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

// everything agrees to everything.
var everything = plan.Policy{AllowDestroy: true, AllowPowerOff: true}

// project is a simulated project with what every cluster of [plantest] finds
// there: an SSH key, a DNS zone, an image.
type project struct {
	testing.TB
	sim    *hetznersim.Sim
	clock  *hetznersim.ScriptedClock
	http   http.RoundTripper
	url    string
	others *hcloud.Client // somebody else, and what the tests look with
}

func newProject(t testing.TB, o hetznersim.Options) *project {
	t.Helper()
	clock := hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	o.Clock = clock
	sim := hetznersim.New(o)
	p := &project{TB: t, sim: sim, clock: clock, http: direct{sim}, url: endpoint}
	p.others = hcloud.NewClient(hcloud.WithEndpoint(endpoint), hcloud.WithToken(sim.Token()),
		hcloud.WithHTTPClient(&http.Client{Transport: p.http}))
	p.furnish()
	return p
}

const endpoint = "http://hetzner.test/v1"

// direct is a connection without a network: the crash tests make a hundred
// thousand requests. [TestOverHTTP] has a real one.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if gone := recover(); gone == http.ErrAbortHandler {
			err = &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed}
		} else if gone != nil {
			panic(gone)
		}
	}()
	if r.Body == nil {
		r.Body = http.NoBody // as a server has it
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w.Result(), r.Context().Err()
}

func must[T any](p testing.TB, v T, _ *hcloud.Response, err error) T {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
	return v
}

// furnish makes what every project has.
func (p *project) furnish() {
	p.Helper()
	ctx := context.Background()
	key, _, err := p.others.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: plantest.SSHKey, PublicKey: publicKey})
	must(p, key, nil, err)
	zone, _, err := p.others.Zone.Create(ctx, hcloud.ZoneCreateOpts{Name: plantest.Zone, Mode: hcloud.ZoneModePrimary})
	must(p, zone, nil, err)
	server, _, err := p.others.Server.Create(ctx, hcloud.ServerCreateOpts{
		Name: "builder", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: plantest.Debian},
		Location: &hcloud.Location{Name: "nbg1"}, StartAfterCreate: hcloud.Ptr(false),
	})
	must(p, server, nil, err)
	p.clock.Advance(time.Hour)
	image, _, err := p.others.Server.CreateImage(ctx, server.Server, &hcloud.ServerCreateImageOpts{
		Type: hcloud.ImageTypeSnapshot, Labels: map[string]string{"os": "talos", "talos_version": "v1.14.1"},
	})
	must(p, image, nil, err)
	p.clock.Advance(time.Hour)
	deleted, _, err := p.others.Server.DeleteWithResult(ctx, server.Server)
	must(p, deleted, nil, err)
	p.clock.Advance(time.Hour)
	p.sim.ResetCalls()
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f test"

// sold are the types of the simulator for those of plantest, with disks that
// grow alike.
var sold = map[string]string{"cpx11": "cpx12", "cpx21": "cpx22", "cpx31": "cpx32", "cpx41": "cpx42"}

// infrastructure spells out a spec with types that are sold.
func infrastructure(s plantest.Spec) schemas.Infrastructure {
	infra := s.Infrastructure()
	for i := range infra.Servers {
		types := slices.Clone(infra.Servers[i].Types)
		for j, t := range types {
			types[j] = sold[t]
		}
		infra.Servers[i].Types = types
	}
	return infra
}

// run is one execution of talosgen.
type run struct {
	*project
	client   *cloud.Client
	infra    schemas.Infrastructure
	policy   plan.Policy
	destroy  bool
	parallel int
	report   func(execute.Event[cloudplan.Change])
	began    time.Time
}

func (p *project) run(infra schemas.Infrastructure, policy plan.Policy) *run {
	return &run{project: p, infra: infra, policy: policy, began: p.clock.Now(), client: cloud.New(cloud.Options{
		Endpoint: p.url, Token: secret.New(p.sim.Token()), HTTP: p.http, Version: "test",
		Clock: p.clock, Chance: func() float64 { return 1 },
	})}
}

func (r *run) plan(observed cloudplan.Observed) (*cloudplan.Plan, error) {
	if r.destroy {
		return cloudplan.Destroy(r.infra, observed, r.policy)
	}
	return cloudplan.Make(r.infra, observed, r.policy)
}

func (r *run) observe(ctx context.Context) (cloudplan.Observed, error) {
	return r.client.ObserveSettled(ctx, r.infra)
}

func (r *run) executor(p *cloudplan.Plan) execute.Do[cloudplan.Change] {
	return r.client.Executor(p, cloud.Inputs{
		HostKey: func(string) (secret.String, error) { return secret.New("private key"), nil },
	}).Do
}

// apply does what `talosgen apply` does, without asking.
func (r *run) apply(ctx context.Context) (last *cloudplan.Plan, err error) {
	lock, err := r.client.Acquire(ctx, cloud.Run{Cluster: r.infra.Cluster, Owner: "test", ID: "run"})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, lock.Release(ctx)) }()
	observed, err := r.observe(ctx)
	if err != nil {
		return nil, err
	}
	first, err := r.plan(observed)
	if err != nil {
		return nil, err
	}
	loop := execute.Infrastructure(first)
	loop.Executor, loop.Stale, loop.Sleep = r.executor, cloud.Stale, r.clock.Sleep
	loop.Again = func(ctx context.Context) (*cloudplan.Plan, error) {
		observed, err := r.observe(ctx)
		if err != nil {
			return nil, err
		}
		return r.plan(observed)
	}
	return loop.Converge(ctx, first, execute.Options[cloudplan.Change]{Parallel: r.parallel, Report: r.report})
}

// mustApply applies, and wants nothing left to do.
func (r *run) mustApply() {
	r.Helper()
	last, err := r.apply(context.Background())
	if err != nil {
		r.Fatalf("%v\n%s", err, r.log())
	}
	if len(last.Changes)+len(last.Refusals) > 0 {
		r.Fatalf("something is left to do:\n%s", last)
	}
}

// log is what was called, for failures.
func (p *project) log() string {
	var text string
	calls := p.sim.Calls()
	for _, c := range calls[max(0, len(calls)-30):] {
		text += c.String() + "\n"
	}
	return text
}
