// A handshake without ML-KEM costs half: nothing here is secret.
//
//go:debug tlsmlkem=0
package nodes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// scenarios are runs that are interrupted.
var scenarios = []struct {
	name    string
	prepare func(w *world)
	policy  nodeplan.Policy
}{
	{"a new cluster", func(w *world) { w.boot("cp-1", "cp-2", "cp-3", "w-1") }, nodeplan.Policy{}},
	{"a new cluster of machines that exist already", func(w *world) {
		w.forgetful = true
		w.records.byName(w)
		w.boot("cp-1", "cp-2", "w-1")
	}, nodeplan.Policy{}},
	{"one more of them", func(w *world) {
		w.records.byName(w)
		w.made("cp-1")
		w.boot("w-1")
	}, nodeplan.Policy{}},
	{"a reboot of all", func(w *world) {
		w.made("cp-1", "cp-2", "cp-3", "w-1")
		for name := range w.want {
			w.configure(name, "  env: {GREETING: hello}")
		}
	}, nodeplan.Policy{}},
	{"a control plane comes, one goes", func(w *world) {
		w.made("cp-1", "cp-2", "cp-3")
		w.boot("cp-4")
		w.drop("cp-1")
	}, nodeplan.Policy{Allow: []string{"cp-1"}}},
	{"a dead control plane goes", func(w *world) {
		w.made("cp-1", "cp-2", "cp-3")
		w.lose("cp-2")
		w.drop("cp-2")
		w.pass(time.Minute)
	}, nodeplan.Policy{Allow: []string{"cp-2"}}},
	{"another authority of Kubernetes is trusted", func(w *world) { w.rotating(1) }, nodeplan.Policy{}},
	{"another authority of Kubernetes signs", func(w *world) { w.rotating(2) }, nodeplan.Policy{}},
	{"an authority of Kubernetes is forgotten", func(w *world) { w.rotating(3) }, nodeplan.Policy{}},
	{"another authority of the Talos API is trusted", func(w *world) { w.rotatingTalos(1) }, nodeplan.Policy{}},
	{"another authority of the Talos API signs", func(w *world) { w.rotatingTalos(2) }, nodeplan.Policy{}},
	{"an authority of the Talos API is forgotten", func(w *world) { w.rotatingTalos(3) }, nodeplan.Policy{}},
	{"the old authority of Kubernetes signs again", func(w *world) { w.rotating(2); w.goBack(w.keys.TurnBack) }, nodeplan.Policy{}},
	{"another authority of Kubernetes is not trusted any more", func(w *world) { w.rotating(1); w.goBack(w.keys.TurnBack) }, nodeplan.Policy{}},
	{"the old authority of the Talos API signs again", func(w *world) { w.rotatingTalos(2); w.goBack(w.keys.TurnTalosBack) }, nodeplan.Policy{}},
	{"another authority of the Talos API is not trusted any more", func(w *world) { w.rotatingTalos(1); w.goBack(w.keys.TurnTalosBack) }, nodeplan.Policy{}},
	{"another key of service accounts is trusted", func(w *world) { w.signing(1) }, nodeplan.Policy{}},
	{"another key of service accounts signs", func(w *world) { w.signing(2) }, nodeplan.Policy{}},
	{"a key of service accounts is forgotten", func(w *world) { w.signing(3) }, nodeplan.Policy{}},
	{"another machine token", func(w *world) {
		w.made("cp-1", "cp-2", "w-1", "w-2")
		w.keys.Token("cccccc.dddddddddddddddd")
		for name := range w.want {
			w.configure(name)
		}
	}, nodeplan.Policy{}},
	{"another bootstrap token, and a worker that joins with it", func(w *world) {
		w.keys.Join("aaaaaa.bbbbbbbbbbbbbbbb")
		w.made("cp-1", "cp-2", "cp-3", "w-1")
		w.keys.Join("cccccc.dddddddddddddddd")
		for name := range w.want {
			w.configure(name)
		}
		w.boot("w-2")
	}, nodeplan.Policy{}},
	{"another key of Secrets is learnt", func(w *world) { w.encrypting(1) }, nodeplan.Policy{}},
	{"another key of Secrets encrypts", func(w *world) { w.encrypting(2) }, nodeplan.Policy{}},
	{"a key of Secrets is forgotten", func(w *world) { w.encrypting(3) }, nodeplan.Policy{}},
	{"the old key of Secrets encrypts again", func(w *world) { w.encrypting(2); w.goBack(func() { w.encrypt("key2", "key3") }) }, nodeplan.Policy{}},
}

// rotating is a cluster whose tree is in a phase of a rotation, and its nodes in the one
// before.
func (w *world) rotating(phase int) {
	w.made("cp-1", "cp-2", "cp-3", "w-1")
	for n := range phase {
		if n > 0 {
			w.mustApply(nodeplan.Policy{})
			w.steps()
		}
		w.turn()
	}
}

// goBack is a cluster that has the phase of its tree, whose tree then goes back to the one
// before.
func (w *world) goBack(turn func()) {
	w.mustApply(nodeplan.Policy{})
	w.steps()
	turn()
	for name := range w.want {
		w.configure(name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.renew = time.Time{} // credentials are those of the tree
}

// signing is a cluster whose tree is in a phase of a rotation of the key of service
// accounts, and its nodes in the one before.
func (w *world) signing(phase int) {
	w.keys.SignTokens("first")
	w.made("cp-1", "cp-2", "cp-3", "w-1")
	for n := range phase {
		if n > 0 {
			w.mustApply(nodeplan.Policy{})
			w.steps()
		}
		w.keys.SignTokens([][]string{{"first", "second"}, {"second", "first"}, {"second"}}[n]...)
		for name := range w.want {
			w.configure(name)
		}
	}
}

// turn takes the tree one phase on.
func (w *world) turn() {
	w.keys.Turn()
	for name := range w.want {
		w.configure(name)
	}
}

// made is a cluster that runs.
func (w *world) made(names ...string) {
	w.Helper()
	w.boot(names...)
	w.mustApply(nodeplan.Policy{})
	w.kube.register(names...)
	w.steps()
}

// TestKilled kills a run at each call in turn. The next run ends with what was
// desired, and nothing is violated.
func TestKilled(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			eachCall(t, stride(), func(t *testing.T, call int, after bool) (struck bool) {
				w := newWorld(t)
				s.prepare(w)
				struck = w.killed(call, after, s.policy)
				w.settled(s.policy)
				return struck
			})
		})
	}
}

// eachCall runs a test for calls in turn that something befalls after their effect,
// and before it, as long as there is such a call. Each world ends with its test.
func eachCall(t *testing.T, step int, test func(t *testing.T, call int, after bool) (struck bool)) {
	t.Helper()
	for call, struck := 1, true; struck; call += step {
		struck = false
		for _, after := range []bool{true, false} {
			t.Run(fmt.Sprintf("call %d, after: %v", call, after), inBubble(func(t *testing.T) { struck = test(t, call, after) || struck }))
		}
	}
}

// byLevel is how much is tried: in minutes every night, in a minute at the full level,
// and else in seconds.
func byLevel(nightly, full, fast int) int {
	switch {
	case os.Getenv("TALOSGEN_TESTENV_NIGHTLY") != "":
		return nightly
	case os.Getenv(talosenv.Full) != "":
		return full
	}
	return fast
}

// stride is from one call that is tried to the next one.
func stride() int { return byLevel(1, 17, 61) }

// killed applies, and stops at a call. It reports whether there was such a call.
func (w *world) killed(call int, after bool, policy nodeplan.Policy) (struck bool) {
	w.Helper()
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	w.fleet.ResetCalls()
	w.fleet.Inject(talossim.Fault{Call: call, After: after, As: talossim.Drop(), Then: func() { struck = true; kill() }})
	_, err := w.apply(ctx, policy)
	if err == nil && struck {
		w.Errorf("killed at call %d, and it knows nothing of it", call)
	}
	w.fleet.ClearFaults()
	w.check()
	return struck
}

// settled applies again, as often as somebody would, until all is as desired.
func (w *world) settled(policy nodeplan.Policy) {
	w.Helper()
	const most = 5
	for n := range most {
		w.heal()
		w.pass(5 * time.Minute)
		p, err := w.apply(context.Background(), policy)
		w.check()
		if err == nil && len(p.Unreachable) == 0 && len(p.Steps) == 0 {
			break
		}
		policy.Trust = append(policy.Trust, w.replaceLearners(p)...)
		policy.Trust = append(policy.Trust, w.rebooted(p)...)
		if n == most-1 {
			w.Fatalf("not as desired: %v\n%s\n%s", err, p, strings.Join(w.told, "\n"))
		}
	}
	for name, text := range w.want {
		if got := w.fleet.Machine(name).Config(); got != text {
			w.Errorf("%s has another configuration", name)
		}
	}
	if len(w.kube.drained) > 0 {
		w.Errorf("still drained: %v", w.kube.drained)
	}
	w.joined()
	w.letsIn()
}

// joined wants every node to be one of Kubernetes.
func (w *world) joined() {
	w.Helper()
	for name := range w.want {
		if api := w.fleet.Kubernetes(name); api != nil && role(name) == nodeplan.ControlPlane {
			for other := range w.want {
				if api.See("Node", "", other) == nil {
					w.Errorf("%s has not joined Kubernetes", other)
				}
			}
			return
		}
	}
	w.Error("there is no API of Kubernetes")
}

// heal mends all machines but lost ones. A call that was still under way may
// have broken one since the last time.
func (w *world) heal() {
	for _, m := range w.fleet.Machines() {
		m.Heal()
		if m.Name() != w.lost {
			m.PowerOn()
		}
	}
}

// replaceLearners does what the plan says of control planes that rebooted before
// they had a vote: they never get one. It gives the names of the machines that are
// others now: replace takes them for new ones.
func (w *world) replaceLearners(p *nodeplan.Plan) (replaced []string) {
	w.Helper()
	if p == nil {
		return nil
	}
	for _, n := range p.Warnings {
		name, _ := strings.CutPrefix(string(n.Key), "node/")
		if strings.Contains(n.Text, "no vote yet") {
			w.fleet.Remove(name)
			w.buy(name)
			replaced = append(replaced, name)
		}
	}
	return replaced
}

// rebooted are machines that lost their power while their configuration was on its
// way, and wait with another key for it: only who has seen their console can say that
// it is them, and says so, as the plan asks for.
func (w *world) rebooted(p *nodeplan.Plan) (names []string) {
	w.Helper()
	if p == nil {
		return nil
	}
	for _, n := range p.Refusals {
		name, _ := strings.CutPrefix(string(n.Key), "node/")
		if strings.Contains(n.Text, "it has not the key of the machine that its configuration was sent to") && w.fleet.Machine(name).Stage() == "maintenance" {
			names = append(names, name)
		}
	}
	return names
}

// TestLostAnswers loses the answer of each call in turn, and the run itself goes
// on.
func TestLostAnswers(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			for call, struck := 1, true; struck; call += stride() + 1 {
				t.Run(fmt.Sprint("call ", call), inBubble(func(t *testing.T) {
					w := newWorld(t)
					s.prepare(w)
					struck = false
					w.fleet.ResetCalls()
					w.fleet.Inject(talossim.Fault{Call: call, After: call%2 == 0, As: talossim.Status(codes.Unavailable, "error reading from server: EOF"), Then: func() { struck = true }})
					_, err := w.apply(t.Context(), s.policy)
					w.check()
					if err != nil {
						t.Logf("call %d: %v", call, err)
					}
					w.settled(s.policy)
				}))
			}
		})
	}
}

// TestRandom throws faults at runs, and takes nodes away for a while, at random.
// Whatever happens, etcd is never at risk by what talosgen does; and once all is
// well again, a run ends with what is desired.
func TestRandom(t *testing.T) {
	for seed := range byLevel(500, 100, 15) { // schedules
		t.Run(fmt.Sprint(seed), inBubble(func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 1))
			s := scenarios[random.IntN(len(scenarios))]
			w := newWorld(t)
			s.prepare(w)
			for range 1 + random.IntN(3) {
				w.disturbed(random, s.policy)
			}
			w.fleet.ClearFaults()
			w.settled(s.policy)
		}))
	}
}

// unnoticed is, half the time, an outcome that tells nobody of what happens
// meanwhile.
func unnoticed(random *rand.Rand) talossim.Outcome {
	if random.IntN(2) == 0 {
		return talossim.Drop()
	}
	return talossim.Slow(time.Second)
}

// streams are calls whose answers come one by one.
var streams = []string{"Events", "List", "Watch", "EtcdSnapshot"}

// strange makes a fault of those that a client does not expect: streams that are cut,
// requests that have their effect when nobody waits for them any more, machines that
// say for a moment what is not so, and clocks that go wrong.
func strange(random *rand.Rand, m *talossim.Machine, fault *talossim.Fault) {
	some := func(method string, as talossim.Outcome) {
		*fault = talossim.Fault{Machine: m.Name(), Method: method, As: as, Times: 1 + random.IntN(4)}
	}
	switch random.IntN(5) {
	case 0:
		some(streams[random.IntN(len(streams))], talossim.CutAfter(1+random.IntN(3)))
	case 1:
		fault.After, fault.As = false, talossim.Late(time.Duration(1+random.IntN(120))*time.Second)
	case 2:
		some("Get", talossim.SaysStage([]string{"unknown", "booting", "rebooting"}[random.IntN(3)]))
	case 3:
		some("ServiceList", talossim.SaysUnwell())
	case 4:
		ahead := time.Duration(1+random.IntN(48)) * time.Hour
		fault.Then, fault.As = func() { m.Skew([]time.Duration{ahead, -ahead}[random.IntN(2)]) }, unnoticed(random)
	}
}

// disturbed is a run under which things go wrong.
func (w *world) disturbed(random *rand.Rand, policy nodeplan.Policy) {
	w.fleet.ClearFaults()
	w.fleet.ResetCalls()
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	all := w.fleet.Machines()
	for range 1 + random.IntN(4) {
		fault := talossim.Fault{Call: 1 + random.IntN(150), After: random.IntN(2) == 0, As: talossim.Drop()}
		m := all[random.IntN(len(all))]
		switch random.IntN(11) {
		case 0:
			fault.As = talossim.Status(codes.Unavailable, "connection refused")
		case 1:
			fault.As, fault.Times, fault.Call, fault.Machine = talossim.Status(codes.FailedPrecondition, "busy"), 1+random.IntN(5), 0, m.Name()
		case 2:
			fault.Then = kill
		case 3:
			fault.Then, fault.As = m.Cut, unnoticed(random)
		case 4:
			fault.Then, fault.As = m.PowerOff, unnoticed(random)
		case 5:
			fault.As = talossim.Slow(time.Duration(random.IntN(300)) * time.Second)
		default:
			strange(random, m, &fault)
		}
		w.fleet.Inject(fault)
	}
	_, _ = w.apply(ctx, policy) // whatever comes of it
	w.check()
}
