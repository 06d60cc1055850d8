package apply

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/schemas"
)

// demoInfrastructure is two servers in a network with a firewall.
const demoInfrastructure = smallInfrastructure + `
network:
  name: demo
  ipRange: 10.0.0.0/16
  labels: {cluster: demo, managed-by: talosgen}
  protected: false
  subnets:
    - {purpose: workers, type: cloud, ipRange: 10.0.1.0/24, networkZone: eu-central}
firewalls:
  - name: demo
    labels: {cluster: demo, managed-by: talosgen}
    rules:
      - {description: ping, direction: in, protocol: icmp, sourceIps: [0.0.0.0/0]}
    applyTo: cluster=demo
placementGroups:
  - {name: demo-1, labels: {cluster: demo, managed-by: talosgen}}
servers:
  - &server
    name: demo-worker-1
    role: worker
    types: [cpx22]
    locations: [fsn1]
    image: {name: debian-13, architecture: x86}
    privateIp: 10.0.1.11
    publicIpv4: true
    publicIpv6: false
    placementGroup: demo-1
    labels: {cluster: demo, managed-by: talosgen, role: worker}
    protected: false
  - <<: *server
    name: demo-worker-2
    privateIp: 10.0.1.12
`

// bench is an environment, a simulated project and a terminal.
type bench struct {
	t      *testing.T
	sim    *hetznersim.Sim
	clock  *hetznersim.ScriptedClock
	env    *Environment
	server *httptest.Server
	url    string
	faults *faultproxy.Proxy // on the way to it

	mu   sync.Mutex
	told []progress.Event
	log  []string
}

func newBench(t *testing.T, infrastructure string) *bench {
	t.Helper()
	clock := hetznersim.NewClock(fixedTime)
	b := &bench{t: t, clock: clock, sim: hetznersim.New(hetznersim.Options{Clock: clock, Token: canaryToken, ActionTime: hetznersim.Instant})}
	b.listen()
	t.Cleanup(func() { b.server.Close() })
	b.render(infrastructure)
	return b
}

func (b *bench) listen() {
	b.faults = faultproxy.New(b.sim)
	b.server = httptest.NewServer(b.faults)
	b.url = b.server.URL + "/v1"
}

// settle waits for requests that nobody waits for any more.
func (b *bench) settle() {
	b.server.Close()
	b.listen()
}

// render makes the environment desire something else.
func (b *bench) render(infrastructure string) {
	b.t.Helper()
	o := newOperators(b.t, 1)
	files := o.small(b.t)
	files[schemas.InfrastructureFile] = infrastructure
	env, err := o.open(b.t, o.sealed(b.t, files))
	if err != nil {
		b.t.Fatal(err)
	}
	b.env = env
}

// connect is a new session. What is different of it, change changes.
func (b *bench) connect(change ...func(*Cloud)) *Session {
	b.t.Helper()
	c := Cloud{
		Endpoint: b.url, Token: secret.New(b.sim.Token()), HTTP: http.DefaultTransport,
		Clock: b.clock, Rand: func() float64 { return 0.5 },
		Log:    func(line string) { b.mu.Lock(); defer b.mu.Unlock(); b.log = append(b.log, line) },
		Notify: func(e progress.Event) { b.mu.Lock(); defer b.mu.Unlock(); b.told = append(b.told, e) },
	}
	for _, f := range change {
		f(&c)
	}
	s, err := b.env.Connect(b.t.Context(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *bench) plan(s *Session, policy Policy) *Plan {
	b.t.Helper()
	p, err := s.Plan(b.t.Context(), policy)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// apply plans and applies, and fails the test if that fails.
func (b *bench) apply(policy Policy) *Report {
	b.t.Helper()
	s := b.connect()
	r, err := s.Apply(b.t.Context(), b.plan(s, policy), policy, Owner{Name: "ann@desk", Run: "1"})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// writes counts the requests that could change something.
func (b *bench) writes() int {
	n := 0
	for _, c := range b.sim.Calls() {
		if c.Method != http.MethodGet {
			n++
		}
	}
	return n
}

func keys(changes []cloudplan.Change) (names []string) {
	for _, c := range changes {
		names = append(names, fmt.Sprintf("%s %s", c.Action, c.Key))
	}
	slices.Sort(names)
	return names
}

func TestApply(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	r := b.apply(Policy{})
	want := []string{
		"create firewall/demo", "create network/demo", "create placement-group/demo-1",
		"create server/demo-worker-1", "create server/demo-worker-2", "create subnet/10.0.1.0/24",
	}
	if got := keys(r.Done); !slices.Equal(got, want) {
		t.Errorf("done %q, want %q", got, want)
	}
	if r.Left == nil || len(r.Left.Changes) > 0 {
		t.Errorf("left %v", r.Left)
	}
	var stages []string
	for _, s := range r.Stages {
		stages = append(stages, s.Stage)
	}
	if got := strings.Join(stages, " "); got != "observe lock check infrastructure" {
		t.Errorf("stages %s", got)
	}
	b.mu.Lock()
	first, last := b.told[0], b.told[len(b.told)-1]
	b.mu.Unlock()
	if first != (progress.Event{Stage: "observe", State: progress.Begun}) || last != (progress.Event{Stage: "infrastructure", State: progress.Done}) {
		t.Errorf("told first %+v, last %+v", first, last)
	}

	// The second time there is nothing to do, and not even a lock is taken.
	b.sim.ResetCalls()
	s := b.connect()
	p := b.plan(s, Policy{})
	r, err := s.Apply(t.Context(), p, Policy{}, Owner{Name: "ann@desk", Run: "2"})
	if err != nil || len(p.Changes) > 0 || len(r.Done) > 0 || b.writes() > 0 {
		t.Errorf("the second time: %v, %v, %d writes (%v)", keys(p.Changes), keys(r.Done), b.writes(), err)
	}
	if made, left := s.Requests(); made != len(b.sim.Calls()) || made > 20 || left < 0 {
		t.Errorf("%d requests (%d seen), %d left", made, len(b.sim.Calls()), left)
	}
	b.noToken()
}

// noToken looks for the token in everything that was told.
func (b *bench) noToken() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if text := fmt.Sprintf("%+v %q", b.told, b.log); strings.Contains(text, canaryToken) {
		b.t.Error("the token was told")
	}
	if len(b.log) == 0 {
		b.t.Error("no request was logged")
	}
}

func TestApplyRefuses(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	b.apply(Policy{})
	b.render(strings.Replace(demoInfrastructure, "  - <<: *server\n    name: demo-worker-2\n    privateIp: 10.0.1.12\n", "", 1))
	owner := Owner{Name: "ann@desk", Run: "3"}

	t.Run("without consent", func(t *testing.T) {
		s := b.connect()
		b.sim.ResetCalls()
		_, err := s.Apply(t.Context(), b.plan(s, Policy{}), Policy{}, owner)
		if diag.CodeOf(err) != diag.Usage || !strings.Contains(err.Error(), "server/demo-worker-2: to delete it needs consent") || b.writes() > 0 {
			t.Errorf("error (%d) %v, %d writes", diag.CodeOf(err), err, b.writes())
		}
	})

	policy := Policy{Consent: plan.Consent{Allow: []string{"demo-worker-2"}}}
	t.Run("a stale plan", func(t *testing.T) {
		s := b.connect()
		p := b.plan(s, policy)
		p.Reads[len(p.Reads)-1].Digest = "as it was long ago"
		b.sim.ResetCalls()
		r, err := s.Apply(t.Context(), p, policy, owner)
		if diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "it is stale: ") || len(r.Done) > 0 {
			t.Errorf("error (%d) %v, done %v", diag.CodeOf(err), err, keys(r.Done))
		}
	})

	t.Run("while another run is at work", func(t *testing.T) {
		s := b.connect()
		p := b.plan(s, policy)
		err := b.connect().lock.locked(t.Context(), Owner{Name: "bob@laptop", Run: "9"}, func() error {
			_, err := s.Apply(t.Context(), p, policy, owner)
			return err
		})
		if diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "bob") {
			t.Errorf("error (%d) %v", diag.CodeOf(err), err)
		}
	})

	t.Run("with consent", func(t *testing.T) {
		if got := keys(b.apply(policy).Done); !slices.Contains(got, "delete server/demo-worker-2") {
			t.Errorf("done %v", got)
		}
	})
}

// TestApplyFails gives the lock back, and says what was done.
func TestApplyFails(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	b.sim.Inject(hetznersim.Fault{Method: http.MethodPost, Path: "/servers", As: hetznersim.Status(0, "resource_limit_exceeded", "server limit exceeded"), Times: -1})
	s := b.connect()
	r, err := s.Apply(t.Context(), b.plan(s, Policy{}), Policy{}, Owner{Name: "ann@desk", Run: "1"})
	if diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), "server limit exceeded") {
		t.Errorf("error (%d) %v", diag.CodeOf(err), err)
	}
	if got := keys(r.Done); !slices.Contains(got, "create network/demo") || slices.Contains(got, "create server/demo-worker-1") {
		t.Errorf("done %v", got)
	}
	b.sim.ClearFaults()
	if got := keys(b.apply(Policy{}).Done); !slices.Equal(got, []string{"create server/demo-worker-1", "create server/demo-worker-2"}) {
		t.Errorf("the second time: done %v", got)
	}
}

// TestApplyInterrupted gives the lock back although its context has ended.
func TestApplyInterrupted(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	ctx, interrupt := context.WithCancel(t.Context())
	b.sim.Inject(hetznersim.Fault{Method: http.MethodPost, Path: "/networks", As: hetznersim.Status(0, "unavailable", "wait"), Then: interrupt})
	s := b.connect()
	_, err := s.Apply(ctx, b.plan(s, Policy{}), Policy{}, Owner{Name: "ann@desk", Run: "1"})
	if diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("error (%d) %v", diag.CodeOf(err), err)
	}
	b.settle()
	if got := b.apply(Policy{}); len(got.Done) == 0 {
		t.Error("nothing was left to do")
	}
}

func TestDestroy(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	b.apply(Policy{})
	s := b.connect()
	p, err := s.PlanDestroy(t.Context(), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Apply(t.Context(), p, Policy{}, Owner{Name: "ann@desk", Run: "2"})
	if err != nil || len(r.Left.Changes) > 0 {
		t.Fatalf("left %v (%v)", r.Left, err)
	}
	if p, err = b.connect().PlanDestroy(t.Context(), Policy{}); err != nil || len(p.Changes) > 0 {
		t.Errorf("still there: %v (%v)", keys(p.Changes), err)
	}
}

func TestConnect(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	cloud := Cloud{Endpoint: b.url, HTTP: http.DefaultTransport, Clock: b.clock, Rand: func() float64 { return 0 }}
	if _, err := b.env.Connect(t.Context(), cloud); diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), "set HCLOUD_TOKEN") {
		t.Errorf("without a token: %v", err)
	}
	b.render(strings.Replace(smallInfrastructure, "hetzner", "static", 1))
	s, err := b.env.Connect(t.Context(), cloud)
	if err != nil {
		t.Fatal(err)
	}
	if p := b.plan(s, Policy{}); len(p.Changes) > 0 {
		t.Errorf("machines that exist already: %v", keys(p.Changes))
	}
	if made, left := s.Requests(); made != 0 || left != -1 {
		t.Errorf("%d requests, %d left", made, left)
	}
}
