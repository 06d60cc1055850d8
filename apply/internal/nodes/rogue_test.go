package nodes_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/schemas"
)

// rogue is somebody on the way to the machines: at some addresses a machine of
// theirs answers, which waits in maintenance mode and says of itself whatever it
// likes.
type rogue struct {
	honest reach.Transport
	fleet  *talossim.Fleet

	mu    sync.Mutex
	taken []string // addresses, without ports
	dials int      // that reached the rogue
}

// intrude lets a rogue with the hardware of a machine wait for who comes.
func (w *world) intrude(like talossim.Spec) *rogue {
	w.Helper()
	r := &rogue{honest: w.through(), fleet: talossim.New(talossim.Options{Random: rand.Reader, Clock: w.fleet.Clock()})}
	w.Cleanup(r.fleet.Close)
	like.Name, like.Public, like.Installed = "rogue", []string{rogueAddress}, true
	for _, m := range w.machines { // its certificate is for all of them
		like.Public = append(like.Public, m.Address)
	}
	r.fleet.Add(like).PowerOn()
	w.pass(5 * time.Minute)
	r.fleet.Settle()
	w.way = r
	return r
}

const rogueAddress = "198.51.100.66"

// take lets the rogue answer at an address.
func (r *rogue) take(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = append(r.taken, address)
}

// Dial leads to the rogue where it is in the way.
func (r *rogue) Dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	hit := slices.Contains(r.taken, host)
	if hit {
		r.dials++
	}
	r.mu.Unlock()
	if hit {
		return r.fleet.Dial(ctx, net.JoinHostPort(rogueAddress, port))
	}
	return r.honest.Dial(ctx, address)
}

// gotNothing wants that nobody has said anything to the rogue: a connection whose
// certificate is refused ends before the first call.
func (r *rogue) gotNothing(t testing.TB) {
	t.Helper()
	if calls := r.fleet.Calls(); len(calls) > 0 || r.fleet.Machine("rogue").Config() != "" {
		t.Errorf("the rogue was called: %v", calls)
	}
}

// refusal is what the operator reads.
const refusal = "it was configured, and read its stage: the node shows a certificate of another authority"

// mustRefuse wants the plan and the run refused, for a reason, and nothing sent.
func (w *world) mustRefuse(r *rogue, node, reason string) {
	w.Helper()
	p, err := w.plan(w.Context(), w.cluster(), nodeplan.Policy{})
	if err != nil {
		w.Fatal(err)
	}
	text := p.String()
	if !strings.Contains(text, "node/"+node+": ") || !strings.Contains(text, reason) || !strings.Contains(text, "--allow node/"+node) || len(p.Refusals) == 0 {
		w.Errorf("the plan is not refused:\n%s", text)
	}
	if _, err := w.apply(w.Context(), nodeplan.Policy{}); err == nil {
		w.Errorf("the run is not refused\n%s", strings.Join(w.told, "\n"))
	}
	r.gotNothing(w)
	w.check()
}

// TestRogueInTheWay: somebody on the way to the address of a node that lives, who
// says that it waits in maintenance mode, is refused and gets nothing: be it the
// only control plane, or one of three that Kubernetes and etcd know, whether the
// record is on the server, in the repository, or was lost with it.
func TestRogueInTheWay(t *testing.T) {
	for _, tt := range []struct {
		name    string
		nodes   []string
		victim  string
		prepare func(w *world)
		reason  string
	}{
		{"the only control plane", []string{"cp-1"}, "cp-1", func(*world) {}, refusal},
		{"the only control plane, which an older talosgen made", []string{"cp-1"}, "cp-1", func(w *world) { w.records.older = true }, "no record says that it was never configured"},
		{"the only control plane, of machines that exist already", []string{"cp-1"}, "cp-1", func(w *world) { w.records.byName(w) }, refusal},
		{"one of three", []string{"cp-1", "cp-2", "cp-3"}, "cp-3", func(*world) {}, refusal},
		{"one of three, whose record was lost with a laptop", []string{"cp-1", "cp-2", "cp-3"}, "cp-3", func(w *world) { w.records.byName(w); w.records.lose() }, "it is registered in Kubernetes"},
		{"the same, and Kubernetes does not know it any more", []string{"cp-1", "cp-2", "cp-3"}, "cp-3", func(w *world) { w.records.byName(w); w.records.lose(); w.kube.nodes = nil }, "it is a member of etcd"},
		{"a worker", []string{"cp-1", "w-1"}, "w-1", func(w *world) { w.records.byName(w) }, refusal},
		{"a server that is recorded as new, and that Kubernetes knows by its id", []string{"cp-1", "w-1"}, "w-1", func(w *world) {
			w.records.lose()
			w.kube.ids = map[string]string{"w-1": "hcloud://" + w.machines[1].ID}
		}, "the cluster knows this machine"},
	} {
		t.Run(tt.name, inBubble(func(t *testing.T) {
			w := newWorld(t)
			w.made(tt.nodes...)
			tt.prepare(w)
			r := w.intrude(talossim.Spec{})
			r.take(w.address(tt.victim))
			w.mustRefuse(r, tt.victim, tt.reason)
		}))
	}
}

// address is where a machine is with its configuration.
func (w *world) address(name string) string { return w.find(name).Address }

// find returns the machine of a name.
func (w *world) find(name string) nodes.Machine {
	w.Helper()
	i := slices.IndexFunc(w.machines, func(m nodes.Machine) bool { return m.Name == name })
	if i < 0 {
		w.Fatalf("there is no machine %s", name)
	}
	return w.machines[i]
}

// elsewhere lets the machines boot at addresses of their own, and recognises them
// by their MAC addresses.
func (w *world) elsewhere() (boot map[string]string) {
	boot = map[string]string{}
	for i := range w.machines {
		m := &w.machines[i]
		m.BootAddress = "203.0.113." + m.ID
		m.Match = schemas.InfraMatch{MAC: "52:54:00:00:00:01"}
		boot[m.Name] = m.BootAddress
	}
	return boot
}

// TestRogueAtBootAddress: where a node was before it was configured nobody is
// asked any more, though the node is silent and somebody has its old address and
// says that it has its hardware.
func TestRogueAtBootAddress(t *testing.T) {
	for _, tt := range []struct {
		name    string
		nodes   []string
		prepare func(w *world)
	}{
		{"the only node", []string{"cp-1"}, func(*world) {}},
		{"a worker", []string{"cp-1", "w-1"}, func(*world) {}},
		{"a worker whose record was lost", []string{"cp-1", "w-1"}, func(w *world) { w.records.lose() }},
		{"a control plane whose record was lost", []string{"cp-1", "cp-2", "cp-3"}, func(w *world) { w.records.lose() }},
		{"a worker whose record cannot be read", []string{"cp-1", "w-1"}, func(w *world) { w.records.unreadable = "facts.yaml is a directory" }},
	} {
		t.Run(tt.name, inBubble(func(t *testing.T) {
			w := newWorld(t)
			w.made(tt.nodes...)
			w.records.byName(w)
			tt.prepare(w)
			victim := tt.nodes[len(tt.nodes)-1]
			w.fleet.Machine(victim).PowerOff()
			w.pass(time.Minute)
			boot := w.elsewhere()[victim]
			r := w.intrude(talossim.Spec{MACs: []string{"52:54:00:00:00:01"}})
			r.take(boot)
			p, err := w.plan(t.Context(), w.cluster(), nodeplan.Policy{})
			if err != nil || !slices.Contains(p.Unreachable, victim) || strings.Contains(p.String(), "configure ") {
				t.Errorf("%v\n%s", err, p)
			}
			_, _ = w.apply(t.Context(), nodeplan.Policy{})
			if r.gotNothing(t); r.dials > 0 {
				t.Errorf("the rogue was asked %d times", r.dials)
			}
		}))
	}
}

// TestNobodyCanSay: a machine that no record names is not configured while no
// control plane can be asked whether it is a node; who is named by consent is.
func TestNobodyCanSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1", "w-1")
		w.records.byName(w)
		w.records.lose()
		w.fleet.Machine("cp-1").Cut()
		r := w.intrude(talossim.Spec{})
		r.take(w.address("w-1"))
		p, err := w.plan(t.Context(), w.cluster(), nodeplan.Policy{})
		if err != nil || !slices.Contains(p.Unreachable, "w-1") || !strings.Contains(p.String(), "it waits in maintenance mode, and it is unknown whether it is new") {
			t.Fatalf("%v\n%s", err, p)
		}
		_, _ = w.apply(t.Context(), nodeplan.Policy{})
		if slices.ContainsFunc(r.fleet.Calls(), func(c talossim.Call) bool { return c.Method == "ApplyConfiguration" }) {
			t.Error("it was configured")
		}
		if p, err = w.plan(t.Context(), w.cluster(), nodeplan.Policy{Trust: []string{"w-1"}}); err != nil || !strings.Contains(p.String(), "the operator agreed to take it for a new one") {
			t.Errorf("%v\n%s", err, p)
		}
	})
}

// TestRogueDuringInstall: whoever comes between a machine and its configuration
// gets nothing: neither before it is sent nor after.
func TestRogueDuringInstall(t *testing.T) {
	for name, after := range map[string]bool{"before it is sent": false, "after it was sent": true} {
		t.Run(name, inBubble(func(t *testing.T) {
			w := newWorld(t)
			w.boot("cp-1")
			r := w.intrude(talossim.Spec{})
			w.fleet.Inject(talossim.Fault{Method: "ApplyConfiguration", After: after, Then: func() { r.take(w.address("cp-1")) }})
			for range 2 {
				p, err := w.apply(t.Context(), nodeplan.Policy{})
				if err == nil && !strings.Contains(p.String(), "it has not the key of the machine that its configuration was sent to") {
					t.Errorf("%v\n%s", err, p)
				}
			}
			r.gotNothing(t)
			if sent := w.fleet.Machine("cp-1").Config() != ""; sent != after {
				t.Errorf("the machine has its configuration: %v", sent)
			}
		}))
	}
}

// TestRogueAtEachCall lets somebody come between a new machine and a run at each
// call in turn. Before the first contact nobody could tell. From then on the
// configuration goes to the machine that is recorded, and to one only.
func TestRogueAtEachCall(t *testing.T) {
	atFirst, kept := 0, 0
	for call, struck := 1, true; struck; call++ {
		for _, after := range []bool{false, true} {
			struck = false
			t.Run(fmt.Sprint(call, after), inBubble(func(t *testing.T) {
				w := newWorld(t)
				w.boot("cp-1")
				honest := w.shows("cp-1")
				r := w.intrude(talossim.Spec{})
				w.fleet.ResetCalls()
				w.fleet.Inject(talossim.Fault{Call: call, After: after, Then: func() { struck = true; r.take(w.address("cp-1")) }})
				for range 2 {
					_, _ = w.apply(t.Context(), nodeplan.Policy{})
				}
				got, real := r.fleet.Machine("rogue").Config() != "", w.fleet.Machine("cp-1").Config() != ""
				record := w.records.Of(w.machines[0])
				switch {
				case got && real:
					t.Error("both have the configuration")
				case got && record.Fingerprint == honest, real && record.State == newonce.Blank:
					t.Errorf("the configuration went to another one than %+v", record)
				case got:
					atFirst++
				case real:
					kept++
				}
			}))
		}
	}
	if atFirst == 0 || kept == 0 {
		t.Errorf("the rogue came first %d times, and too late %d times", atFirst, kept)
	}
}

// TestNoRecordNothingSent: what cannot be recorded is not sent.
func TestNoRecordNothingSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.boot("cp-1")
		w.records.err = context.DeadlineExceeded
		if _, err := w.apply(t.Context(), nodeplan.Policy{}); err == nil || w.fleet.Machine("cp-1").Config() != "" {
			t.Errorf("it was configured: %v", err)
		}
		w.records.err = nil
		w.mustApply(nodeplan.Policy{})
	})
}

// TestPinned: a machine is configured if it shows the key that the tree or the
// operator names, and no other one is.
func TestPinned(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pin   func(w *world, key string)
		right bool
	}{
		{"in the tree", func(w *world, key string) { w.machines[0].Match.Fingerprint = key }, true},
		{"in the tree, another one", func(w *world, _ string) { w.machines[0].Match.Fingerprint = strings.Repeat("A", 43) + "=" }, false},
		{"by the operator", func(w *world, key string) { w.machines[0].Consent.Fingerprint = key; w.records.older = true }, true},
		{"by the operator, another one", func(w *world, _ string) {
			w.machines[0].Consent = newonce.Consent{Allowed: true, Fingerprint: strings.Repeat("A", 43) + "="}
		}, false},
	} {
		t.Run(tt.name, inBubble(func(t *testing.T) {
			w := newWorld(t)
			w.boot("cp-1")
			key := w.shows("cp-1")
			tt.pin(w, key)
			p, err := w.plan(t.Context(), w.cluster(), nodeplan.Policy{})
			if refused := len(p.Refusals) > 0; err != nil || refused == tt.right {
				t.Fatalf("%v\n%s", err, p)
			}
			if !tt.right && !strings.Contains(p.String(), "shows the key "+key) {
				t.Errorf("the key that it shows is not told:\n%s", p)
			}
			w.fleet.ResetCalls()
			if _, err := w.apply(t.Context(), nodeplan.Policy{}); (err == nil) != tt.right || (w.fleet.Machine("cp-1").Config() != "") != tt.right {
				t.Errorf("%v", err)
			}
		}))
	}
}

// shows is the fingerprint of the key that a machine shows in maintenance mode.
func (w *world) shows(name string) string {
	w.Helper()
	client, err := node.Maintenance(node.Target{Name: name, Address: w.address(name)}, w.through(), "")
	if err != nil {
		w.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Status(w.Context()); err != nil {
		w.Fatal(err)
	}
	return client.Fingerprint()
}
