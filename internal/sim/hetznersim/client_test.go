package hetznersim_test

import (
	"context"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/simtest"
)

// project is a simulator with the official client on it.
type project struct {
	*testing.T
	sim    *hetznersim.Sim
	client *hcloud.Client
	url    string
}

// newProject serves a simulator over HTTP. Unless the options say otherwise,
// each call takes a second of simulated time, so that actions end while the
// client waits.
func newProject(t *testing.T, o hetznersim.Options) *project {
	t.Helper()
	if o.PerCall == 0 {
		o.PerCall = time.Second
	}
	sim := hetznersim.New(o)
	p := &project{T: t, sim: sim, url: simtest.Serve(t, sim)}
	p.client = p.withToken(sim.Token())
	return p
}

func (p *project) withToken(token string) *hcloud.Client {
	return hcloud.NewClient(hcloud.WithEndpoint(p.url), hcloud.WithToken(token),
		hcloud.WithPollOpts(hcloud.PollOpts{BackoffFunc: hcloud.ConstantBackoff(0)}),
		hcloud.WithRetryOpts(hcloud.RetryOpts{BackoffFunc: hcloud.ConstantBackoff(0), MaxRetries: 0}))
}

// wait waits for actions and wants success.
func (p *project) wait(actions ...*hcloud.Action) {
	p.Helper()
	if err := p.client.Action.WaitFor(context.Background(), actions...); err != nil {
		p.Fatal(err)
	}
}

// must wants no error, and returns the value.
func must[V, R any](v V, _ R, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// refused wants an error of a code.
func (p *project) refused(err error, code hcloud.ErrorCode) {
	p.Helper()
	if !hcloud.IsError(err, code) {
		p.Errorf("%v, not %s", err, code)
	}
}

func (p *project) server(name string, change ...func(*hcloud.ServerCreateOpts)) hcloud.ServerCreateResult {
	p.Helper()
	opts := hcloud.ServerCreateOpts{Name: name, ServerType: &hcloud.ServerType{Name: "cx23"},
		Image: &hcloud.Image{Name: "debian-13"}, Location: &hcloud.Location{Name: "nbg1"}}
	for _, f := range change {
		f(&opts)
	}
	return must(p.client.Server.Create(p.Context(), opts))
}
