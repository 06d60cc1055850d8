package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/internal/execute/executetest"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultmachine"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/schemas"
)

// faultCase is what a run does: from nothing or from a cluster to another one, or to
// nothing.
type faultCase struct {
	name     string
	from, to *schemas.Infrastructure
	inTurn   bool // changes are made one at a time, so that calls have an order
}

// faultCases are the life of three clusters: the shipped prod and two that are made
// up, among them one without public addresses.
func faultCases(t testing.TB) (all []faultCase) {
	t.Helper()
	add := func(name string, small, large schemas.Infrastructure) {
		all = append(all, faultCase{name: name + " from nothing", to: &small}, faultCase{name: name + " changes", from: &small, to: &large},
			faultCase{name: name + " goes", from: &large})
	}
	prod := shippedProd(t)
	taller := prod
	taller.Servers = slices.Clone(prod.Servers)
	last := &taller.Servers[len(taller.Servers)-1]
	last.Types = []string{"cpx42"}
	add("prod", prod, taller)
	open := plantest.Spec{
		Cluster: "lighthouse", ControlPlanes: 1, API: true, FloatingIP: true, DNS: true, ReverseDNS: true, Protected: true,
		Pools: []plantest.Pool{{Name: "worker", Count: 2, Groups: true, Backups: true}},
	}
	rescaled := open
	rescaled.Protected, rescaled.ReverseDNS, rescaled.Rules, rescaled.Ingress = false, false, 2, 1
	rescaled.Pools = []plantest.Pool{{Name: "worker", Count: 1, Size: 1}}
	add("lighthouse", executetest.Infrastructure(open), executetest.Infrastructure(rescaled))
	private := plantest.Spec{Cluster: "harbour", ControlPlanes: 3, Private: true, API: true, Pools: []plantest.Pool{{Name: "worker", Count: 1}}}
	grown := private
	grown.ControlPlanes, grown.API = 1, false
	grown.Pools = []plantest.Pool{{Name: "worker", Count: 3, Groups: true}}
	add("harbour", executetest.Infrastructure(private), executetest.Infrastructure(grown))
	return all
}

// shippedProd is the infrastructure of the shipped environment prod.
func shippedProd(t testing.TB) (infra schemas.Infrastructure) {
	t.Helper()
	text, err := os.ReadFile("../rendered/prod/infrastructure.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &infra)
	}
	if err != nil {
		t.Fatal(err)
	}
	return infra
}

// faultWorld is a project with neighbours behind a fault machine, and what a run is
// to make of it.
type faultWorld struct {
	testing.TB
	faultCase
	clock      faultClock
	sim        *hetznersim.Sim
	machine    *faultmachine.Machine
	env        *Environment // of the cluster before
	next       *Environment
	before     hetznersim.Snapshot
	operations map[string]int // of a run without faults
	mu         sync.Mutex
	asked      map[string]int // the same of the run that goes on, or was the last one
	seen       map[string]int // of the last run with faults
	struck     int            // how many of these were struck
	times      []time.Time    // of the requests of all runs
	always     faultproxy.Effect
	neighbours string
	ran        []string // the servers that run before it
	runs       int
}

// faultClock is simulated time that passes when it is told to, too.
type faultClock interface {
	hetznersim.Clock
	Advance(d time.Duration)
}

func newFaultWorld(t testing.TB, c faultCase) *faultWorld {
	t.Helper()
	return newFaultWorldAt(t, c, hetznersim.NewClock(fixedTime))
}

func newFaultWorldAt(t testing.TB, c faultCase, clock faultClock) *faultWorld {
	t.Helper()
	w := &faultWorld{TB: t, faultCase: c, clock: clock, asked: map[string]int{}}
	w.sim = hetznersim.New(hetznersim.Options{Clock: w.clock, Token: canaryToken, RateLimit: -1})
	w.machine = faultmachine.New(w.sim)
	for _, infra := range []*schemas.Infrastructure{c.from, c.to} {
		if infra != nil {
			w.supply(*infra)
		}
	}
	w.settle()
	w.neighbours = w.others()
	if c.from != nil {
		w.env, w.next = w.opened(*c.from), w.opened(*c.from)
		if problem := w.run(false); problem != nil {
			t.Fatal(problem)
		}
	}
	if c.to != nil {
		w.next = w.opened(*c.to)
	}
	w.settle()
	for _, s := range w.list("servers") {
		w.ran = append(w.ran, s["name"].(string))
	}
	w.before = w.sim.Snapshot()
	w.sim.ResetCalls()
	if problem := w.run(c.to == nil); problem != nil {
		t.Fatal(problem)
	}
	w.operations = faultmachine.Operations(w.sim.Calls())
	return w
}

// supply makes what a cluster expects in its project, and neighbours of several kinds.
func (w *faultWorld) supply(infra schemas.Infrastructure) {
	for _, image := range infra.Images {
		w.sim.AddSnapshot("Talos", image.Architecture, 10, image.Labels)
	}
	for _, record := range infra.DNSRecords {
		w.sim.AddZone(record.Zone)
	}
	for _, s := range infra.Servers {
		for _, key := range s.SSHKeys {
			w.sim.AddSSHKey(key, "")
		}
	}
	const fleeting = `, "labels": {"` + faultmachine.Fleeting + `": "1"}}`
	for _, made := range [][2]string{
		{"placement_groups", `{"name": "a-fleeting", "type": "spread"` + fleeting},
		{"firewalls", `{"name": "a-fleeting"` + fleeting},
		{"networks", `{"name": "a-fleeting", "ip_range": "10.200.0.0/16"` + fleeting},
		{"volumes", `{"name": "a-fleeting", "size": 10, "location": "nbg1"` + fleeting},
		{"placement_groups", `{"name": "neighbour", "type": "spread"}`},
		{"firewalls", `{"name": "neighbour", "rules": [{"direction": "in", "protocol": "icmp", "source_ips": ["0.0.0.0/0"]}]}`},
		{"networks", `{"name": "neighbour", "ip_range": "10.0.0.0/16"}`},
		{"volumes", `{"name": "neighbour", "size": 10, "location": "nbg1"}`},
		{"servers", `{"name": "neighbour", "server_type": "cx23", "image": "debian-13", "location": "nbg1"}`},
	} {
		w.ask(http.MethodPost, "/"+made[0], made[1])
	}
}

// ask makes a request as somebody else.
func (w *faultWorld) ask(method, path, body string) (answer map[string]any) {
	r := httptest.NewRequest(method, "/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+canaryToken)
	recorded := httptest.NewRecorder()
	w.sim.ServeHTTP(recorded, r)
	_ = json.Unmarshal(recorded.Body.Bytes(), &answer) // an empty one is none
	return answer
}

// list is all of a kind.
func (w *faultWorld) list(kind string) (all []map[string]any) {
	found, _ := w.ask(http.MethodGet, "/"+kind+"?per_page=50", "")[kind].([]any)
	for _, o := range found {
		all = append(all, o.(map[string]any))
	}
	return all
}

// others are the neighbours that nobody touches, as text.
func (w *faultWorld) others() string {
	var text strings.Builder
	for _, kind := range []string{"servers", "networks", "firewalls", "placement_groups", "volumes"} {
		for _, o := range w.list(kind) {
			if o["name"] == "neighbour" {
				line, _ := json.Marshal(o) // it was JSON
				fmt.Fprintf(&text, "%s %s\n", kind, line)
			}
		}
	}
	return text.String()
}

// settle lets everything end that is in motion.
func (w *faultWorld) settle() {
	w.clock.Advance(time.Hour)
	w.sim.Settle()
}

// opened is an environment with an infrastructure.
func (w *faultWorld) opened(infra schemas.Infrastructure) *Environment {
	w.Helper()
	text, err := yaml.Marshal(infra)
	if err != nil {
		w.Fatal(err)
	}
	o := newOperators(w.TB, 1)
	files := o.small(w.TB)
	files[schemas.InfrastructureFile] = string(text)
	files[schemas.HostKeyFile] = o.encrypted(w.TB, schemas.HostKeyFile, "cluster: "+infra.Cluster+"\n", schemas.HostKeySecret, canaryToken)
	tree := fstest.MapFS{}
	var outputs []rendered.Entry
	for path, text := range files {
		tree[path] = &fstest.MapFile{Data: []byte(text)}
		outputs = append(outputs, rendered.Entry{Path: path, Digest: rendered.Digest([]byte(text))})
	}
	lock, err := rendered.NewLock(rendered.Origin{Talosgen: "0.1.0", Environment: "demo", Cluster: infra.Cluster}, nil, outputs)
	if err != nil {
		w.Fatal(err)
	}
	lock.Seal = lock.ComputeSeal(o.dataKey.Derive(rendered.SealLabel))
	tree[rendered.LockName] = &fstest.MapFile{Data: lock.Encode()}
	env, err := o.open(w.TB, tree)
	if err != nil {
		w.Fatal(err)
	}
	return env
}

// session is a new one of talosgen.
func (w *faultWorld) session() *Session {
	w.Helper()
	w.runs++
	s, err := w.next.Connect(w.Context(), Cloud{
		History:  newer(w.next),
		Endpoint: "http://127.0.0.1/v1", Token: secret.New(canaryToken), HTTP: faultproxy.Direct(http.HandlerFunc(w.count)), Clock: w.clock, Rand: func() float64 { return 0.5 },
	})
	if err != nil {
		w.Fatal(err)
	}
	if w.inTurn {
		s.cloud.parallel = 1
	}
	return s
}

// count passes a request on, and counts it.
func (w *faultWorld) count(answer http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked[faultmachine.Operation(r.Method, r.URL.Path)]++
	w.times = append(w.times, w.clock.Now())
	always := w.always
	w.mu.Unlock()
	if always != nil {
		always(answer, r, w.machine)
		return
	}
	w.machine.ServeHTTP(answer, r)
}

// agreed is consent to everything.
func (w *faultWorld) agreed() Policy {
	p := Policy{Consent: plan.Consent{AllowDestroy: true, AllowPowerOff: true}}
	if w.to == nil {
		p.AllowMade, p.Unprotect = true, w.from.Cluster
	}
	return p
}

// run is a whole command: apply, or destroy.
func (w *faultWorld) run(destroy bool) error {
	w.Helper()
	w.mu.Lock()
	w.asked = map[string]int{}
	w.mu.Unlock()
	s, policy := w.session(), w.agreed()
	p, err := w.plan(s, destroy)
	if err == nil {
		_, err = s.Apply(w.Context(), p, policy, Owner{Name: "ann@desk", Run: fmt.Sprint("run-", w.runs)})
	}
	return errors.Join(err, s.Close(context.WithoutCancel(w.Context())))
}

func (w *faultWorld) plan(s *Session, destroy bool) (*Plan, error) {
	if destroy {
		return s.PlanDestroy(w.Context(), w.agreed())
	}
	return s.Plan(w.Context(), w.agreed())
}
