package hetznersim_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// TestRateLimit: 3600 calls at once, then one a second, and headers that say so.
func TestRateLimit(t *testing.T) {
	clock := hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	sim := hetznersim.New(hetznersim.Options{Clock: clock})
	call := func() http.Header {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/locations/1", nil)
		r.Header.Set("Authorization", "Bearer "+sim.Token())
		w := httptest.NewRecorder()
		sim.ServeHTTP(w, r)
		w.Header().Set("status", strconv.Itoa(w.Code))
		w.Header().Set("body", w.Body.String())
		return w.Header()
	}
	expect := func(h http.Header, status, remaining int, resetIn time.Duration) {
		t.Helper()
		reset := strconv.FormatInt(clock.Now().Add(resetIn).Unix(), 10)
		if h.Get("status") != strconv.Itoa(status) || h.Get("RateLimit-Limit") != "3600" ||
			h.Get("RateLimit-Remaining") != strconv.Itoa(remaining) || h.Get("RateLimit-Reset") != reset ||
			h.Get("Date") != clock.Now().Format(http.TimeFormat) {
			t.Errorf("%v", h)
		}
	}
	expect(call(), 200, 3599, time.Second)
	for range 3598 {
		call()
	}
	expect(call(), 200, 0, time.Hour)
	h := call()
	expect(h, 429, 0, time.Hour)
	if body := h.Get("body"); body != `{"error":{"code":"rate_limit_exceeded","message":"limit of 3600 requests per hour reached","details":null}}` {
		t.Error(body)
	}
	clock.Advance(2 * time.Second)
	expect(call(), 200, 1, time.Hour-time.Second)
	expect(call(), 200, 0, time.Hour)
	expect(call(), 429, 0, time.Hour)
	clock.Advance(2 * time.Hour)
	expect(call(), 200, 3599, time.Second)
}

// TestLimits: what a project may hold, and what networks, groups and types hold.
func TestLimits(t *testing.T) {
	p := newProject(t, hetznersim.Options{Limits: hetznersim.Limits{Servers: 1, Networks: 1, PrimaryIPs: 3}})
	p.server("a")
	_, _, err := p.client.Server.Create(t.Context(), hcloud.ServerCreateOpts{Name: "b", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: "debian-13"}})
	p.refused(err, hcloud.ErrorCodeResourceLimitExceeded)
	if err == nil || !strings.Contains(err.Error(), "server limit exceeded") {
		t.Errorf("%v", err)
	}
	p.network("a")
	_, _, err = p.client.Network.Create(t.Context(), hcloud.NetworkCreateOpts{Name: "b", IPRange: cidr("10.0.0.0/16")})
	p.refused(err, hcloud.ErrorCodeResourceLimitExceeded)
	must(p.client.PrimaryIP.Create(t.Context(), hcloud.PrimaryIPCreateOpts{Name: "a", Type: "ipv4", Location: "nbg1", AssigneeType: "server"}))
	_, _, err = p.client.PrimaryIP.Create(t.Context(), hcloud.PrimaryIPCreateOpts{Name: "b", Type: "ipv4", Location: "nbg1", AssigneeType: "server"})
	if err == nil || !strings.Contains(err.Error(), "Primary IP limit exceeded (resource_limit_exceeded") {
		t.Errorf("%v", err)
	}
}

// TestVolumesOfServer: a server has 16 volumes at most, attached to it, made for it, or
// that it is made with; names are of 64 characters at most.
func TestVolumesOfServer(t *testing.T) {
	p := newProject(t, hetznersim.Options{ActionTime: hetznersim.Instant})
	server := p.server("a")
	p.wait(append(server.NextActions, server.Action)...)
	s := server.Server
	create := func(name string) (hcloud.VolumeCreateResult, error) {
		made, _, err := p.client.Volume.Create(t.Context(), hcloud.VolumeCreateOpts{Name: name, Size: 10, Server: s})
		return made, err
	}
	var all []*hcloud.Volume
	for i := range 16 {
		made := must2(create(fmt.Sprint("v", i)))
		p.wait(append(made.NextActions, made.Action)...)
		all = append(all, made.Volume)
	}
	_, err := create("v16")
	p.refused(err, hcloud.ErrorCodeResourceLimitExceeded)
	for _, name := range []string{strings.Repeat("a", 65), "-a", "a b"} {
		_, err := create(name)
		p.refused(err, hcloud.ErrorCodeInvalidInput)
	}
	free := must(p.client.Volume.Create(t.Context(), hcloud.VolumeCreateOpts{Name: strings.Repeat("a", 64), Size: 10, Location: &hcloud.Location{Name: "nbg1"}}))
	p.wait(free.Action)
	_, _, err = p.client.Volume.Attach(t.Context(), free.Volume, s)
	p.refused(err, hcloud.ErrorCodeResourceLimitExceeded)
	p.wait(must(p.client.Volume.Detach(t.Context(), all[0])))
	p.wait(must(p.client.Volume.Attach(t.Context(), free.Volume, s)))
}

// TestCoreLimit: new servers and larger types stay within the cores of a project; a
// smaller type is always to be had.
func TestCoreLimit(t *testing.T) {
	p := newProject(t, hetznersim.Options{ActionTime: hetznersim.Instant, Limits: hetznersim.Limits{Cores: 8}})
	create := func(name, kind string) (hcloud.ServerCreateResult, error) {
		made, _, err := p.client.Server.Create(t.Context(), hcloud.ServerCreateOpts{Name: name, ServerType: &hcloud.ServerType{Name: kind},
			Image: &hcloud.Image{Name: "debian-13"}, StartAfterCreate: hcloud.Ptr(false)})
		return made, err
	}
	rescale := func(s *hcloud.Server, kind string) error {
		a, _, err := p.client.Server.ChangeType(t.Context(), s, hcloud.ServerChangeTypeOpts{ServerType: &hcloud.ServerType{Name: kind}})
		if err == nil {
			p.wait(a)
			p.wait(must(p.client.Server.Poweroff(t.Context(), s)))
		}
		return err
	}
	small := must2(create("a", "cx23")) // 2 cores
	p.wait(small.Action)
	p.wait(must2(create("b", "cx33")).Action) // 4
	_, err := create("c", "cx33")
	p.refused(err, hcloud.ErrorCodeResourceLimitExceeded)
	if err == nil || !strings.Contains(err.Error(), "core limit exceeded") {
		t.Errorf("%v", err)
	}
	p.refused(rescale(small.Server, "cx43"), hcloud.ErrorCodeResourceLimitExceeded)
	for _, kind := range []string{"cx33", "cx23"} {
		if err := rescale(small.Server, kind); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestPlacementGroupsAndNetworksFillUp(t *testing.T) {
	p := newProject(t, hetznersim.Options{ActionTime: hetznersim.Instant})
	n := p.network("a")
	g := must(p.client.PlacementGroup.Create(t.Context(), hcloud.PlacementGroupCreateOpts{Name: "a", Type: "spread"})).PlacementGroup
	create := func(i int) error {
		opts := hcloud.ServerCreateOpts{Name: fmt.Sprintf("s%d", i), ServerType: &hcloud.ServerType{Name: "cx23"},
			Image: &hcloud.Image{Name: "debian-13"}, Networks: []*hcloud.Network{n}}
		if i <= 11 {
			opts.PlacementGroup = g
		}
		_, _, err := p.client.Server.Create(t.Context(), opts)
		return err
	}
	for i := 1; i <= 10; i++ {
		if err := create(i); err != nil {
			t.Fatal(err)
		}
	}
	if err := create(11); err == nil || !strings.Contains(err.Error(), "placement group a contains already 10 servers (service_error") {
		t.Errorf("%v", err)
	}
	for i := 12; i <= 101; i++ {
		if err := create(i); err != nil {
			t.Fatal(err)
		}
	}
	p.refused(create(102), hcloud.ErrorCodeResourceLimitExceeded)
	servers := must2(p.client.Server.All(t.Context()))
	seen := map[string]bool{}
	for _, s := range servers {
		seen[s.PrivateNet[0].IP.String()] = true
	}
	if len(servers) != 100 || len(seen) != 100 {
		t.Errorf("%d servers, %d addresses", len(servers), len(seen))
	}
}

func TestStock(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	create := func() error {
		_, _, err := p.client.Server.Create(t.Context(), hcloud.ServerCreateOpts{Name: "a", ServerType: &hcloud.ServerType{Name: "cax11"},
			Image: &hcloud.Image{Name: "debian-13"}, Location: &hcloud.Location{Name: "fsn1"}})
		return err
	}
	for _, tt := range []struct {
		stock     hetznersim.Stock
		available bool
		code      hcloud.ErrorCode
	}{
		{hetznersim.SoldOut, false, hcloud.ErrorCodeResourceUnavailable},
		{hetznersim.HiddenSoldOut, true, hcloud.ErrorCodeResourceUnavailable},
		{hetznersim.NoPlacement, true, hcloud.ErrorCodePlacementError},
	} {
		p.sim.SetStock("fsn1", "cax11", tt.stock)
		p.refused(create(), tt.code)
		for _, l := range must(p.client.ServerType.GetByName(t.Context(), "cax11")).Locations {
			if l.Available != (tt.available || l.Location.Name != "fsn1") {
				t.Errorf("%v: %+v", tt.stock, l)
			}
		}
	}
	if servers, addresses := must2(p.client.Server.All(t.Context())), must2(p.client.PrimaryIP.All(t.Context())); len(servers)+len(addresses) != 0 {
		t.Errorf("leaked: %v %v", servers, addresses)
	}
	p.sim.SetStock("fsn1", "cax11", hetznersim.Available)
	if err := create(); err != nil {
		t.Error(err)
	}
}

// TestManyClients: clients side by side get what they asked for, once.
func TestManyClients(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	n := p.network("a")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			made, _, err := p.client.Server.Create(t.Context(), hcloud.ServerCreateOpts{Name: fmt.Sprintf("s%d", i%10), ServerType: &hcloud.ServerType{Name: "cx23"},
				Image: &hcloud.Image{Name: "debian-13"}, Networks: []*hcloud.Network{n}})
			if hcloud.IsError(err, hcloud.ErrorCodeUniquenessError) {
				return
			}
			if err == nil {
				err = p.client.Action.WaitFor(t.Context(), append(made.NextActions, made.Action)...)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if servers := must2(p.client.Server.All(t.Context())); len(servers) != 10 {
		t.Errorf("%d servers", len(servers))
	}
}
