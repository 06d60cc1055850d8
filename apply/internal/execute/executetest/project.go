// Package executetest executes plans in simulated projects, as apply does, for
// tests of what makes plans, reads them or executes them. It is for tests only.
package executetest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// Endpoint is where the API of a [Project] is.
const Endpoint = "http://hetzner.test/v1"

// Project is a simulated project with what every cluster of [plantest] finds
// there: an SSH key, a DNS zone, an image with Talos.
type Project struct {
	Sim    *hetznersim.Sim
	Clock  *hetznersim.ScriptedClock
	HTTP   http.RoundTripper // to the simulator, without a network
	Others *hcloud.Client    // of another user of the project
}

// NewProject makes a project. The clock is set here.
func NewProject(t testing.TB, o hetznersim.Options) *Project {
	t.Helper()
	clock := hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	o.Clock = clock
	sim := hetznersim.New(o)
	for _, id := range plantest.VSwitches {
		sim.AddVSwitch(id)
	}
	p := &Project{Sim: sim, Clock: clock, HTTP: direct{sim}}
	p.Others = hcloud.NewClient(hcloud.WithEndpoint(Endpoint), hcloud.WithToken(sim.Token()),
		hcloud.WithHTTPClient(&http.Client{Transport: p.HTTP}))
	p.furnish(t)
	return p
}

// direct is a connection without a network: tests of faults make a hundred
// thousand requests.
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

// Must returns what a call returned, and ends the test if it failed.
func Must[T any](t testing.TB, v T, _ *hcloud.Response, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// furnish makes what every project has.
func (p *Project) furnish(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	key, _, err := p.Others.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: plantest.SSHKey, PublicKey: publicKey})
	Must(t, key, nil, err)
	zone, _, err := p.Others.Zone.Create(ctx, hcloud.ZoneCreateOpts{Name: plantest.Zone, Mode: hcloud.ZoneModePrimary})
	Must(t, zone, nil, err)
	server, _, err := p.Others.Server.Create(ctx, hcloud.ServerCreateOpts{
		Name: "builder", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: plantest.Debian},
		Location: &hcloud.Location{Name: "nbg1"}, StartAfterCreate: hcloud.Ptr(false),
	})
	Must(t, server, nil, err)
	p.Clock.Advance(time.Hour)
	image, _, err := p.Others.Server.CreateImage(ctx, server.Server, &hcloud.ServerCreateImageOpts{
		Type: hcloud.ImageTypeSnapshot, Labels: plantest.ImageLabels(),
	})
	Must(t, image, nil, err)
	p.Clock.Advance(time.Hour)
	deleted, _, err := p.Others.Server.DeleteWithResult(ctx, server.Server)
	Must(t, deleted, nil, err)
	p.Clock.Advance(time.Hour)
	p.Sim.ResetCalls()
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f test"
