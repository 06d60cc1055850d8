package executetest

import (
	"context"
	"slices"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

// Everything agrees to everything.
var Everything = plan.Consent{AllowDestroy: true, AllowPowerOff: true}

// sold are the types of the simulator for those of plantest, with disks that
// grow alike.
var sold = map[string]string{"cpx11": "cpx12", "cpx21": "cpx22", "cpx31": "cpx32", "cpx41": "cpx42"}

// Infrastructure spells out a spec with types that the simulator sells.
func Infrastructure(s plantest.Spec) schemas.Infrastructure {
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

// Client is a client of the project that never waits by chance.
func (p *Project) Client() *cloud.Client {
	return cloud.New(cloud.Options{
		Endpoint: Endpoint, Token: secret.New(p.Sim.Token()), HTTP: p.HTTP, Version: "test",
		Clock: p.Clock, Rand: func() float64 { return 1 },
	})
}

// Loop executes a plan, and plans again by again.
func Loop(client *cloud.Client, clock hetznersim.Clock, first *cloudplan.Plan, again func(context.Context) (*cloudplan.Plan, error)) execute.Loop[*cloudplan.Plan, cloudplan.Change] {
	loop := execute.Infrastructure(first)
	loop.Executor = func(p *cloudplan.Plan) execute.Do[cloudplan.Change] {
		return client.Executor(p, cloud.Inputs{
			HostKey: func(string) (secret.String, error) { return secret.New("private key"), nil },
		}).Do
	}
	loop.Stale, loop.Sleep, loop.Again = cloud.Stale, clock.Sleep, again
	return loop
}

// Stand makes a cluster in a new project, and returns what there is then.
func Stand(t testing.TB, desired schemas.Infrastructure) cloudplan.Observed {
	t.Helper()
	return NewProject(t, hetznersim.Options{}).Stand(t, desired)
}

// Stand makes a cluster in the project, and returns what there is then.
func (p *Project) Stand(t testing.TB, desired schemas.Infrastructure) cloudplan.Observed {
	t.Helper()
	client, ctx := p.Client(), context.Background()
	make := func(ctx context.Context) (*cloudplan.Plan, error) {
		observed, err := client.ObserveSettled(ctx, desired)
		if err != nil {
			return nil, err
		}
		return cloudplan.Make(desired, observed, Everything)
	}
	first, err := make(ctx)
	if err != nil {
		t.Fatal(err)
	}
	last, err := Loop(client, p.Clock, first, make).Converge(ctx, first, execute.Options[cloudplan.Change]{})
	if err != nil {
		t.Fatal(err)
	}
	if len(last.Changes)+len(last.Refusals) > 0 {
		t.Fatalf("something is left to do:\n%s", last)
	}
	observed, err := client.ObserveSettled(ctx, desired)
	if err != nil {
		t.Fatal(err)
	}
	return observed
}
