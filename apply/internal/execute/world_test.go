package execute_test

import (
	"cmp"
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/execute/executetest"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

var everything = executetest.Everything

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
	p := executetest.NewProject(t, o)
	return &project{TB: t, sim: p.Sim, clock: p.Clock, http: p.HTTP, url: executetest.Endpoint, others: p.Others}
}

func must[T any](t testing.TB, v T, _ *hcloud.Response, err error) T {
	t.Helper()
	return executetest.Must(t, v, nil, err)
}

// infrastructure spells out a spec with types that are sold.
func infrastructure(s plantest.Spec) schemas.Infrastructure { return executetest.Infrastructure(s) }

// run is one execution of talosgen.
type run struct {
	*project
	client   *cloud.Client
	infra    schemas.Infrastructure
	policy   plan.Consent
	destroy  bool
	parallel int
	report   func(execute.Event[cloudplan.Change])
	began    time.Time
}

func (p *project) run(infra schemas.Infrastructure, policy plan.Consent) *run {
	return &run{project: p, infra: infra, policy: policy, began: p.clock.Now(), client: cloud.New(cloud.Options{
		Endpoint: p.url, Token: secret.New(p.sim.Token()), HTTP: p.http, Version: "test",
		Clock: p.clock, Rand: func() float64 { return 1 },
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
	loop := executetest.Loop(r.client, r.clock, first, func(ctx context.Context) (*cloudplan.Plan, error) {
		observed, err := r.observe(ctx)
		if err != nil {
			return nil, err
		}
		return r.plan(observed)
	})
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
