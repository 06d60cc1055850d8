package apply

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/reach/reachtest"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// askedClock counts how often somebody waits.
type askedClock struct {
	waits int
	then  func()
}

func (c *askedClock) Now() time.Time { return fixedTime }

func (c *askedClock) Sleep(context.Context, time.Duration) error {
	c.waits++
	if c.then != nil {
		c.then()
	}
	return nil
}

// TestGatewayAnswers: gateways are asked where there are two that run. One that does not
// answer is asked again while the other one does, for it may not let this machine in yet.
func TestGatewayAnswers(t *testing.T) {
	one, two := reachtest.Start(t), reachtest.Start(t)
	infra := schemas.Infrastructure{
		Cluster: "demo", Access: schemas.InfraAccess{Mode: "private", Jump: "gw-1", JumpStandby: "gw-2"},
		Network: &schemas.InfraNetwork{Routes: []schemas.InfraRoute{{Destination: "0.0.0.0/0", Gateway: "10.0.0.3", Standby: "10.0.0.4"}}},
		Servers: []schemas.InfraServer{{Name: "cp", Role: schemas.RoleControlPlane}, {Name: "gw-1", Role: schemas.RoleNATGateway, HostKey: one.KnownHost()}, {Name: "gw-2", Role: schemas.RoleNATGateway, HostKey: two.KnownHost()}},
	}
	alone := infra
	alone.Network = &schemas.InfraNetwork{Routes: []schemas.InfraRoute{{Destination: "0.0.0.0/0", Gateway: "10.0.0.3"}}}
	labels := map[string]string{schemas.LabelCluster: "demo", schemas.LabelManagedBy: schemas.ManagedBy}
	server := func(id int64, name, status string) cloudplan.Server {
		return cloudplan.Server{Meta: cloudplan.Meta{ID: id, Name: name, Labels: labels}, Status: status, PublicIPv4: cloudplan.PublicIP{IP: fmt.Sprintf("192.0.2.%d", id)}}
	}
	both := []cloudplan.Server{server(1, "gw-1", "running"), server(2, "gw-2", "running")}
	proven := []cloudplan.Answer{{Server: 1, Proven: true}, {Server: 2, Proven: true}}
	silent := func(ids ...int64) []cloudplan.Answer {
		all := slices.Clone(proven)
		for _, id := range ids {
			all[id-1] = cloudplan.Answer{Server: id, Why: "it is down"}
		}
		return all
	}
	for name, c := range map[string]struct {
		infra   *schemas.Infrastructure
		servers []cloudplan.Server
		down    []string // host:port
		back    bool     // after the first wait
		want    []cloudplan.Answer
		waits   int
	}{
		"both":       {&infra, both, nil, false, proven, 0},
		"one":        {&infra, both, []string{"192.0.2.1:22"}, false, silent(1), gatewayTries - 1},
		"one, again": {&infra, both, []string{"192.0.2.1:22"}, true, proven, 1},
		"neither":    {&infra, both, []string{"192.0.2.1:22", "192.0.2.2:22"}, false, silent(1, 2), 0},
		"one is off": {&infra, []cloudplan.Server{both[0], server(2, "gw-2", "off")}, nil, false, nil, 0},
		"one only":   {&alone, both, nil, false, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			down := slices.Clone(c.down)
			dial := func(ctx context.Context, address string) (net.Conn, error) {
				if slices.Contains(down, address) {
					return nil, errors.New("it is down")
				}
				to := map[string]string{"192.0.2.1:22": one.Address, "192.0.2.2:22": two.Address}[address]
				return new(net.Dialer).DialContext(ctx, "tcp", to)
			}
			clock := &askedClock{}
			if c.back {
				clock.then = func() { down = nil }
			}
			reach := &nodeReach{infra: c.infra, inventory: &inventory{infra: c.infra}, dial: dial, open: &sessionAccess{infra: c.infra}}
			got := gatewayAsker{reach, clock}.ask(t.Context(), cloudplan.Observed{Servers: c.servers})
			if !slices.Equal(got, c.want) || clock.waits != c.waits {
				t.Errorf("%+v after %d waits; want %+v after %d", got, clock.waits, c.want, c.waits)
			}
		})
	}
}

// TestGatewaySilent: a route is led away from a gateway that runs, and does not prove itself
// from here, while the other one does; a run that finds it well again changes nothing, and
// says that the plan is not any more what it was.
func TestGatewaySilent(t *testing.T) {
	one, two := reachtest.Start(t), reachtest.Start(t)
	w := newGatewayWorld(t, one.KnownHost(), two.KnownHost())
	w.settle()
	public := map[string]string{}
	for name, s := range map[string]*reachtest.Server{"harbour-nat": one, "harbour-nat-2": two} {
		ip := w.server(name)["public_net"].(map[string]any)["ipv4"].(map[string]any)["ip"].(string)
		public[net.JoinHostPort(ip, sshPort)] = s.Address
	}
	silent := two.Address
	s := w.session()
	s.connect.reach.dial = func(ctx context.Context, address string) (net.Conn, error) {
		if public[address] == silent {
			return nil, errors.New("it is down")
		}
		return new(net.Dialer).DialContext(ctx, "tcp", public[address])
	}
	for _, c := range []struct{ silent, want string }{{two.Address, ""}, {one.Address, "route/0.0.0.0/0"}, {"", ""}} {
		silent = c.silent
		p := &Plan{}
		if err := s.cloud.plan(t.Context(), p, Policy{}); err != nil {
			t.Fatal(err)
		}
		var got string
		for _, change := range p.Changes {
			got += string(change.Key)
		}
		if got != c.want {
			t.Fatalf("with %q silent it changes %q, want %q", c.silent, got, c.want)
		}
		if c.want == "" {
			continue
		}
		if again, err := s.cloud.check(t.Context(), p.Plan); err != nil || len(again.Changes) != 1 {
			t.Errorf("it is silent still: %v", err)
		}
		silent = ""
		if _, err := s.cloud.check(t.Context(), p.Plan); diag.CodeOf(err) != diag.Conflict {
			t.Errorf("it answers again: %v", err)
		}
	}
}
