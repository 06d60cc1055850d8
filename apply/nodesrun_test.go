package apply

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sim/talossim/simtest"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/schemas"
)

// nodesHead is a cluster at Hetzner Cloud with public nodes.
const nodesHead = `apiVersion: talosgen.dev/v1alpha1
cluster: demo
provider: hetzner
kubernetesApi: {endpoint: "https://10.0.0.10:6443", tlsServerName: kubernetes.default.svc, certSans: []}
access: {mode: public, currentIpv4: true, currentIpv6: false}
network:
  name: demo
  ipRange: 10.0.0.0/16
  labels: {cluster: demo, managed-by: talosgen}
  protected: false
  subnets:
    - {purpose: nodes, type: cloud, ipRange: 10.0.0.0/17, networkZone: eu-central}
firewalls:
  - name: demo-nodes
    labels: {cluster: demo, managed-by: talosgen, component: nodes}
    applyTo: "cluster=demo,role in (controlplane,worker)"
servers:
`

// nodesServer is one server.
const nodesServer = `  - name: %s
    role: %s
    types: [%s]
    locations: [hel1]
    image: {selector: os=talos, architecture: x86}
    privateIp: 10.0.%d.%d
    publicIpv4: true
    publicIpv6: false
    labels: {cluster: demo, managed-by: talosgen, role: %s, nodepool: x}
    protected: false
`

// site is a simulated project with simulated nodes behind its servers, and an
// environment.
type site struct {
	testing.TB
	fleet  *talossim.Fleet
	sim    *hetznersim.Sim
	faults *faultproxy.Proxy // on the way to it
	keys   *simtest.Cluster
	ops    operators
	http   http.RoundTripper
	head   string   // of infrastructure.yaml, up to the servers
	kind   string   // the type of servers
	more   []string // lines for the machine section of all nodes
	env    *Environment
	static bool     // the machines exist already
	past   *History // of the tree; nil: each is newer than what was applied

	mu    sync.Mutex
	told  bytes.Buffer
	saved bytes.Buffer // snapshots of etcd, as they were kept
	runs  int
}

// newSite is a project without servers, within a bubble of [synctest]: no time passes
// while anybody works, however busy the machine is.
func newSite(t testing.TB) *site {
	t.Helper()
	return newSiteAt(t, newBubbleClock(siteStart))
}

// siteStart is when sites begin.
var siteStart = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func newSiteAt(t testing.TB, clock hetznersim.Clock) *site {
	t.Helper()
	s := &site{TB: t, head: nodesHead, kind: "cpx22", fleet: talossim.New(talossim.Options{Random: rand.Reader, Clock: clock}), keys: simtest.NewCluster(t, "demo"), ops: newOperators(t, 1)}
	s.sim = hetznersim.New(hetznersim.Options{
		Clock: s.fleet.Clock(), Token: canaryToken, ActionTime: hetznersim.Instant, Machines: talossim.NewServers(s.fleet, nil),
	})
	s.sim.AddSnapshot("Talos", "x86", 10, map[string]string{"os": "talos", "talos_version": "v1.14.1"})
	s.faults = faultproxy.New(s.sim)
	s.http = faultproxy.Direct(s.faults)
	t.Cleanup(s.fleet.Close)
	return s
}

// tree renders an environment with these nodes: names that begin with cp are
// control planes.
func (s *site) tree(names ...string) {
	s.Helper()
	files := map[string]string{"rules.yaml": s.ops.encrypted(s.TB, "rules.yaml", "", "a", canaryToken)}
	infra := s.head
	for i, name := range names {
		role, config := "worker", s.keys.Worker(name, s.more...)
		if strings.HasPrefix(name, "cp") {
			role, config = "controlplane", s.keys.ControlPlane(name, s.more...)
		}
		number := 0
		_, _ = fmt.Sscanf(name[strings.LastIndex(name, "-")+1:], "%d", &number)
		if role == "worker" {
			number += 100
		}
		infra += fmt.Sprintf(nodesServer, name, role, s.kind, i/200, 2+number%200, role)
		files["nodes/"+name+".yaml"] = config
	}
	files[schemas.InfrastructureFile] = infra
	env, err := s.ops.open(s.TB, s.ops.sealed(s.TB, files))
	if err != nil {
		s.Fatal(err)
	}
	s.env = env
}

// session is a new one. What is different of it, change changes.
func (s *site) session(change ...func(*Cloud)) *Session {
	s.Helper()
	s.runs++
	past := s.past
	if past == nil {
		past = newer(s.env)
	}
	c := Cloud{
		Endpoint: "http://127.0.0.1/v1", Token: secret.New(s.sim.Token()), HTTP: s.http, Clock: s.fleet.Clock(),
		Rand: func() float64 { return 0.5 }, Builder: Builder{Dial: s.fleet.Dial, Random: rand.Reader},
		Notify: func(e progress.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			fmt.Fprintln(&s.told, e.Stage, e.Step, e.State, e.Text)
		},
		History: past,
		Nodes: Nodes{
			Dial: s.fleet.Dial, Kubernetes: s.static, Owner: s.owner(),
			Own: func(context.Context) []netip.Addr { return []netip.Addr{netip.MustParseAddr("198.51.100.7")} },
			Keep: func(name string, write func(io.Writer) error) (string, error) {
				return name, write(&s.saved)
			},
		},
	}
	for _, f := range change {
		f(&c)
	}
	session, err := s.env.Connect(s.Context(), c)
	if err != nil {
		s.Fatal(err)
	}
	// Whoever dies in a test lets go of connections in its end only.
	s.Cleanup(func() { _ = session.Close(context.Background()) })
	return session
}

func (s *site) owner() Owner { return Owner{Name: "ann@desk", Run: fmt.Sprint("run-", s.runs)} }

// apply plans and applies.
func (s *site) apply(policy Policy) (*Plan, *Report, error) {
	s.Helper()
	session := s.session()
	defer func() {
		if err := session.Close(context.Background()); err != nil {
			s.Error(err)
		}
	}()
	p, err := session.Plan(s.Context(), policy)
	if err != nil {
		s.Fatal(err)
	}
	r, err := session.Apply(s.Context(), p, policy, s.owner())
	return p, r, err
}

// mustApply applies, and wants all as desired and nobody let in any more.
func (s *site) mustApply(policy Policy) (*Plan, *Report) {
	s.Helper()
	p, r, err := s.apply(policy)
	if err != nil {
		s.Fatalf("%v\n%s\n%s", err, p, s.told.String())
	}
	if v := s.fleet.Violations(); len(v) > 0 {
		s.Fatal(v)
	}
	s.closed()
	return p, r
}

// closed wants no session access and no lock to be left.
func (s *site) closed() {
	s.Helper()
	request := httptest.NewRequest(http.MethodGet, "/v1/firewalls", nil)
	request.Header.Set("Authorization", "Bearer "+s.sim.Token())
	answer := httptest.NewRecorder()
	s.sim.ServeHTTP(answer, request)
	if text := answer.Body.String(); strings.Contains(text, "-session") || strings.Contains(text, "-lock") {
		s.Errorf("left behind: %s", text)
	}
}

func stepNames(r *Report) string {
	var names []string
	for _, step := range r.Steps {
		names = append(names, string(step.Action)+" "+step.Node)
	}
	return strings.Join(names, ", ")
}

// TestFromNothing makes a cluster in an empty project: servers, configurations,
// etcd. The second time there is nothing to do, and nothing is written.
func TestFromNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "cp-2", "cp-3", "worker-1")
		p, r := s.mustApply(Policy{})
		if text := p.String(); !strings.Contains(text, "demo, nodes: 4 to configure, 1 to bootstrap") {
			t.Errorf("before there is anything the plan is\n%s", text)
		}
		if steps := stepNames(r); strings.Count(steps, "configure") != 4 || !strings.HasSuffix(steps, "bootstrap etcd") {
			t.Error(steps)
		}
		s.sim.ResetCalls()
		p, r = s.mustApply(Policy{})
		if !p.Empty() || len(r.Steps)+len(r.Done) > 0 {
			t.Errorf("the second time:\n%s", p)
		}
		if text := s.told.String(); strings.Contains(text, canaryToken) || strings.Contains(text, "aaaaaa.bbbbbbbbbbbbbbbb") {
			t.Error("a secret was told")
		}
	})
}

// TestGoing removes a control plane and a worker: they leave the cluster before
// their servers are deleted, a snapshot is kept, and in the end all fits.
func TestGoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "cp-2", "cp-3", "worker-1", "worker-2")
		s.mustApply(Policy{})
		s.tree("cp-1", "cp-2", "worker-1")
		if _, _, err := s.apply(Policy{}); diag.CodeOf(err) != diag.Usage || !strings.Contains(err.Error(), "server/cp-3: to delete it needs consent: it is the cluster") {
			t.Errorf("without consent: %v", err)
		}
		before := s.runs
		p, r := s.mustApply(Policy{Consent: plan.Consent{Allow: []string{"cp-3", "worker-2"}}})
		// Those of the worker go on beside them.
		steps := slices.DeleteFunc(strings.Split(stepNames(r), ", "), func(name string) bool { return !strings.HasSuffix(name, " cp-3") })
		if got, want := strings.Join(steps, ", "), "snapshot cp-3, drain cp-3, forfeit cp-3, leave cp-3, verify cp-3, delete-node cp-3"; got != want || s.runs != before+1 {
			t.Errorf("%s, want %s\n%s", got, want, p)
		}
		deleted := slices.IndexFunc(r.Done, func(c cloudplan.Change) bool { return c.Key == "server/cp-3" })
		left := strings.Index(s.told.String(), "nodes verify cp-3 done")
		gone := strings.Index(s.told.String(), "infrastructure delete server/cp-3 done")
		if deleted < 0 || left < 0 || gone < left {
			t.Errorf("done %v, in the order\n%s", keys(r.Done), s.told.String())
		}
		if !sopsage.IsEncryptedStream(s.saved.Bytes()) {
			t.Error("the snapshot is not encrypted")
		}
		if p, _ := s.mustApply(Policy{}); !p.Empty() {
			t.Errorf("then\n%s", p)
		}
	})
}

// TestStagesOfARun leaves out what was not asked for: without the stage of nodes
// no server of a node is deleted.
func TestStagesOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "worker-1")
		_, r := s.mustApply(Policy{Stages: []Stage{StageInfrastructure}})
		if len(r.Done) == 0 || len(r.Steps) > 0 {
			t.Errorf("done %v, %s", keys(r.Done), stepNames(r))
		}
		if err := s.fleet.Clock().Sleep(t.Context(), time.Minute); err != nil { // the servers boot
			t.Fatal(err)
		}
		_, r = s.mustApply(Policy{Stages: []Stage{stageNodes}})
		if len(r.Done) > 0 || len(r.Steps) == 0 {
			t.Errorf("done %v, %s", keys(r.Done), stepNames(r))
		}
		s.tree("cp-1")
		p, _ := s.mustApply(Policy{Stages: []Stage{StageInfrastructure}, Consent: plan.Consent{AllowDestroy: true}})
		if !p.Empty() {
			t.Errorf("a server of a node would be deleted:\n%s", p)
		}
	})
}

// TestSavedNodes keeps a plan with nodes, and executes it as long as nothing has
// changed.
func TestSavedNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "worker-1")
		s.mustApply(Policy{})
		s.more = []string{"  sysctls: {vm.swappiness: \"10\"}"}
		s.tree("cp-1", "worker-1")
		session := s.session()
		p, err := session.Plan(t.Context(), Policy{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.Save()
		if err != nil || bytes.Contains(text, []byte("aaaaaa.bbbb")) {
			t.Fatalf("%v, or there is a secret in\n%s", err, text)
		}
		saved, err := LoadPlan("plan.json", text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := session.Resume(t.Context(), saved, Policy{})
		if err != nil || again.String() != p.String() {
			t.Fatalf("%v\n%s", err, again)
		}
		r, err := session.Apply(t.Context(), again, Policy{}, s.owner())
		if steps := stepNames(r); err != nil || strings.Count(steps, "configure") != 2 {
			t.Fatalf("%s, %v", steps, err)
		}
		if _, err := session.Resume(t.Context(), saved, Policy{}); diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "node/cp-1 has changed") {
			t.Errorf("afterwards: %v", err)
		}
		_ = session.Close(t.Context())
		s.closed()
	})
}

// TestOnlyOneNode: the servers of nodes that the run leaves alone are not
// deleted, whatever else is agreed to: they have not left etcd.
func TestOnlyOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "cp-2", "cp-3", "worker-1")
		s.mustApply(Policy{})
		s.tree("cp-1", "cp-2")
		_, r := s.mustApply(Policy{Consent: plan.Consent{AllowDestroy: true}, Nodes: []string{"worker-1"}})
		if got := keys(r.Done); !slices.Equal(got, []string{"delete server/worker-1"}) || strings.Contains(stepNames(r), "cp-3") {
			t.Errorf("done %v, %s", got, stepNames(r))
		}
		s.fleet.Settle()
		if s.fleet.Machine("cp-3") == nil {
			t.Error("cp-3 is gone")
		}
	})
}

// TestAnotherType powers servers off one after the other, and lets each become
// well again before the next: etcd is never at risk.
func TestAnotherType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "cp-2", "cp-3")
		s.mustApply(Policy{})
		s.kind = "cpx32"
		s.tree("cp-1", "cp-2", "cp-3")
		_, r := s.mustApply(Policy{Consent: plan.Consent{AllowPowerOff: true}})
		if got := keys(r.Done); len(got) != 3 {
			t.Errorf("done %v", got)
		}
		if p, _ := s.mustApply(Policy{}); !p.Empty() {
			t.Errorf("then\n%s", p)
		}
	})
}
