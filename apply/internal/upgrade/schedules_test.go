package upgrade_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

var scheduleSeed = flag.Int64("schedule-seed", -1, "run one schedule of TestSchedules, of this seed")

// seeds are those of the level that is tested; so many of the full one.
func seeds(full int64) (list []int64) {
	count := int64(4)
	switch {
	case *scheduleSeed >= 0:
		return []int64{*scheduleSeed}
	case os.Getenv("TALOSGEN_TESTENV_NIGHTLY") != "":
		count = 500
	case os.Getenv(talosenv.Full) != "":
		count = full
	}
	for seed := range count {
		list = append(list, seed)
	}
	return list
}

// schedule is what befalls the runs of an upgrade, by chance.
type schedule struct {
	*rand.Rand
	*invariants
	seed int64
	text []string
	// How many kinds of things befall it, and what configurations must become.
	kinds int
	to    string
	goal  talossim.System // that machines must run in the end; empty: Git's
}

func pick[T any](s *schedule, from ...T) T { return from[s.IntN(len(from))] }

// newSchedule starts 3 control planes, 3 workers and 2 nodes of the autoscaler, with
// versions by chance; somebody may have cordoned some of them.
func newSchedule(t *testing.T, seed int64) *schedule {
	s := &schedule{Rand: rand.New(rand.NewPCG(uint64(seed), 17)), seed: seed, kinds: 13}
	talos := map[string]string{}
	for _, name := range []string{"cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3", "auto-1", "auto-2"} {
		talos[name] = pick(s, "v1.12.8", "v1.12.11", "v1.13.1", "v1.13.9", "v1.14.0")
	}
	w := newWorld(t, talos, func(m *talossim.Spec) { m.Bootloader = pick(s, talossim.GRUB, talossim.SystemdBoot) })
	if seed%3 == 2 {
		w.up.Policy.Autoscaled, w.up.Policy.Allow = upgradeplan.Recycle, append(w.up.Policy.Allow, upgradeplan.RiskRecycle)
	}
	s.begin(w)
	return s
}

// newKubeSchedule is [newSchedule] with versions of Kubernetes by chance too: workers may
// be older than control planes.
func newKubeSchedule(t *testing.T, seed int64) *schedule {
	s := &schedule{Rand: rand.New(rand.NewPCG(uint64(seed), 19)), seed: seed, kinds: 15, to: "1.37.1"}
	talos, kubernetes := map[string]string{}, map[string]string{}
	first := 1 + s.IntN(2)
	versions := []string{"1.34.1", "1.35.4", "1.36.3"}
	for _, name := range []string{"cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3", "auto-1", "auto-2"} {
		talos[name], kubernetes[name] = pick(s, "v1.13.9", "v1.14.0", "v1.14.1"), versions[first]
		if role(name) != upgradeplan.ControlPlane {
			kubernetes[name] = versions[first-s.IntN(2)]
		}
	}
	w := newMixedKubeWorld(t, func(name string) string { return kubernetes[name] }, s.to, talos)
	w.up.Policy.Component = upgradeplan.Everything
	s.begin(w)
	return s
}

// begin lets somebody have cordoned nodes, and watches the world.
func (s *schedule) begin(w *world) {
	for _, m := range w.fleet.Machines() {
		w.kube.nodes[m.Name()].Cordoned = role(m.Name()) != upgradeplan.ControlPlane && s.IntN(8) == 0
	}
	w.up.Policy.MaxParallel, w.up.Policy.Soak = 1+s.IntN(3), pick(s, 0, 0, 60)
	s.invariants = hold(w)
}

func (s *schedule) note(format string, args ...any) {
	s.text = append(s.text, fmt.Sprintf(format, args...))
}

func (s *schedule) machine() *talossim.Machine {
	all := s.fleet.Machines()
	return all[s.IntN(len(all))]
}

// befall lets something happen in the next run. Kill ends it.
func (s *schedule) befall(kill func()) {
	m, call, after := s.machine(), 1+s.IntN(700), s.IntN(2) == 0
	at := func(what string, as talossim.Outcome, then func()) {
		s.note("call %d, after %v: %s", call, after, what)
		s.fleet.Inject(talossim.Fault{Call: call, After: after, As: as, Then: then})
	}
	switch s.IntN(s.kinds) {
	case 0:
		at("lost", talossim.Status(codes.Unavailable, "error reading from server: EOF"), nil)
	case 1:
		at("no answer", talossim.Hang(), nil)
	case 2, 3:
		at("kill", talossim.Drop(), kill)
	case 4:
		at(m.Name()+" is away", talossim.Drop(), m.Cut)
	case 5:
		s.note("%s: the stream of its installer is cut", m.Name())
		s.fleet.Inject(talossim.Fault{Machine: m.Name(), Method: "Upgrade", Times: 1 + s.IntN(30), As: talossim.CutAfter(1)})
	case 6:
		s.note("%s: pulls stall", m.Name())
		s.fleet.Inject(talossim.Fault{Machine: m.Name(), Method: "*Pull", Times: 1 + s.IntN(3), As: talossim.Hang()})
	case 7:
		code := int32(1 + s.IntN(7))
		s.note("%s: its installer ends with %d", m.Name(), code)
		m.FailInstall(code)
	case 8, 9:
		version, how := pick(s, "v1.12.11", "v1.13.9", cmp.Or(s.goal.Talos, "v1.14.1")), pick(s, talossim.Reverts, talossim.Hangs)
		if running, _ := m.Systems(); running.Talos != version {
			s.note("%s: %s fails to start, kind %d", m.Name(), version, how)
			m.Break(version, how)
		}
	case 10:
		s.kube.stuck = m.Name()
		s.note("%s: a budget", m.Name())
	case 11:
		s.kube.away = [2]int{1 + s.IntN(60), 1 + s.IntN(40)}
		s.note("Kubernetes is away from call %d on, %d calls", s.kube.away[0], s.kube.away[1])
	case 12:
		if name := m.Name(); role(name) != upgradeplan.ControlPlane {
			at(name+" burns", talossim.Drop(), func() { s.fleet.Lose(name) })
		}
	case 13, 14:
		version := pick(s, "v1.35.4", "v1.36.3", "v1.37.1")
		if !slices.ContainsFunc(slices.Collect(maps.Values(m.Programs())), func(p talossim.Program) bool { return p.Version() == version }) {
			s.note("%s: Kubernetes %s ends when it starts", m.Name(), version)
			m.Crash(version)
		}
	}
}

// once is a run with some faults. It reports whether it was done.
func (s *schedule) once(faults int) bool {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	killed := false
	s.fleet.ClearFaults()
	s.fleet.ResetCalls()
	s.kube.seen = 0
	for range faults {
		s.befall(func() { killed = true; cancel() })
	}
	s.snapshots = s.saved
	err := s.run(ctx)
	s.fleet.ClearFaults()
	s.note("ended: %v", err)
	left := s.left()
	if !killed {
		s.ended(err)
	}
	for _, name := range left {
		if err == nil && (s.unreached == nil || !strings.Contains(s.unreached.Error(), "node "+name+": ")) {
			s.violate("%s was left, and the run says that it is done", name)
		}
	}
	if broken := s.all(); len(broken) > 0 {
		s.fail(broken)
	}
	s.mend(err)
	return err == nil && len(left) == 0
}

// left are the machines that do not have what Git says.
func (s *schedule) left() (names []string) {
	for _, m := range s.fleet.Machines() {
		running, _ := m.Systems()
		if running != cmp.Or(s.goal, talossim.System{Talos: "v1.14.1", Schematic: schematic}) || s.to != "" && m.Config() != s.config(m.Name(), s.to) {
			names = append(names, m.Name())
		}
	}
	return names
}

// mend is what somebody does after a run: what hangs is switched off and on, and what
// failed is tried again.
func (s *schedule) mend(err error) {
	s.kube.stuck, s.kube.away, s.up.Policy.Retry = "", [2]int{}, nil
	for _, m := range s.fleet.Machines() {
		m.FailInstall(0)
		m.Mend()
		m.Heal()
		if s.kube.nodes[m.Name()].Upgrade != "" && err != nil && strings.Contains(err.Error(), "node "+m.Name()+": ") {
			s.up.Policy.Retry = append(s.up.Policy.Retry, m.Name())
		}
	}
	s.pass(long)
	for _, m := range s.fleet.Machines() {
		if m.Stage() != "running" {
			m.PowerOff()
			m.PowerOn()
		}
	}
	s.pass(long)
}

func (s *schedule) fail(broken []string) {
	s.Helper()
	s.Fatalf("%s\nwhat befell it:\n%s\nlast steps:\n%s\nagain: go test ./apply/internal/upgrade -run %s -schedule-seed=%d",
		strings.Join(broken, "\n"), strings.Join(s.text, "\n"), strings.Join(s.told[max(0, len(s.told)-30):], "\n"), strings.SplitN(s.Name(), "/", 2)[0], s.seed)
}

// TestSchedules: whatever befalls the runs of an upgrade, no invariant breaks at any
// call, in the end every node that lives has what Git says, and one more run does
// nothing.
func TestSchedules(t *testing.T) {
	play(t, seeds(60), newSchedule)
}

// TestKubernetesSchedules is the same with Kubernetes.
func TestKubernetesSchedules(t *testing.T) {
	play(t, seeds(20), newKubeSchedule)
}

func play(t *testing.T, list []int64, begin func(*testing.T, int64) *schedule) {
	runs := 0
	for _, seed := range list {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := begin(t, seed)
			cordoned := map[string]bool{}
			for name, n := range s.kube.nodes {
				cordoned[name] = n.Cordoned
			}
			if agreed := s.up.Policy.Allow; s.IntN(4) == 0 {
				s.up.Policy.Allow = agreed[:1] // nobody agrees to etcd's next minor yet
				s.note("without consent")
				s.once(1)
				s.up.Policy.Allow = agreed
			}
			for run, done := 0, false; !done; run++ {
				if run > 40 {
					s.fail([]string{"no run is done"})
				}
				done = s.once(max(0, s.IntN(6)-run/3))
			}
			if s.to != "" {
				s.upgraded(s.to)
			}
			if s.done(); t.Failed() {
				s.fail([]string{"it is not as it should be"})
			}
			for name, n := range s.kube.nodes {
				if n.Cordoned != cordoned[name] {
					s.violate("I7: %s is cordoned: %v", name, n.Cordoned)
				}
			}
			s.again()
			runs += s.runs
		})
	}
	if len(list) > 1 && runs <= 2*len(list) { // two of each end well
		t.Errorf("only %d runs: nothing failed", runs)
	}
	t.Logf("%d runs of %d schedules", runs, len(list))
}

// again is I10: one more run changes nothing.
func (s *schedule) again() {
	before := s.kube.calls
	if !s.once(0) || s.kube.calls != before {
		s.violate("I10: the next run makes %d changes in Kubernetes", s.kube.calls-before)
	}
	if len(s.fleet.Calls()) == 0 {
		s.violate("the next run looks at nothing")
	}
	for _, c := range s.fleet.Calls() {
		if slices.Contains([]string{"Reboot", "Pull", "ImagePull", "EtcdForfeitLeadership", "ApplyConfiguration"}, c.Method) {
			s.violate("I10: the next run calls %s of %s", c.Method, c.Machine)
		}
	}
	if broken := s.all(); len(broken) > 0 {
		s.fail(broken)
	}
}

// unavailable is what a client says when the API does not answer.
func unavailable() error {
	return diag.On("Kubernetes API", "it does not answer").WithCode(diag.Remote).WithCause(io.ErrUnexpectedEOF)
}
