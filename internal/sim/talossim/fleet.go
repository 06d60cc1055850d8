package talossim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// Options say how a fleet behaves.
type Options struct {
	// Clock is the time. Nil is a [hetznersim.ScriptedClock] that stands at noon
	// of 2026-11-01, UTC.
	Clock hetznersim.Clock
	// Random is where keys of nodes come from.
	Random io.Reader
	// Timing says how long machines take. The zero value is [DefaultTiming].
	Timing Timing
	// NoCNI says that clusters bring no network of their own: nodes of Kubernetes
	// are not ready until there is a DaemonSet of a CNI.
	NoCNI bool
	// Extensions are the system extensions in images, by the ids of their schematics.
	Extensions map[string][]string
	// Called is told of each call when it has had its effect, and before it is
	// answered; nil: nobody is told. It may look at machines.
	Called func(Call)
	// Flux reconciles Git in clusters where it is installed; nil: nobody does.
	Flux *kubesim.Flux
}

// Timing is how long machines take for what they do by themselves.
type Timing struct {
	Boot     time.Duration // from power on until the API answers
	Certify  time.Duration // from a configuration until the API answers with its certificate
	Install  time.Duration // writing Talos to a disk
	Shutdown time.Duration // from the call that reboots until the machine is down
	TimeSync time.Duration // from the boot until the clock is in sync
	Services time.Duration // until the services run
	Etcd     time.Duration // until an etcd that has data serves
	Join     time.Duration // until a new member learns
	Promote  time.Duration // until a learner votes
	Retry    time.Duration // between attempts to join
	Pods     time.Duration // until a pod that is wanted is ready
	Notice   time.Duration // until the kubelet has noticed that a static pod is another one
	Report   time.Duration // until a node says how its static pods are; 0: it does not say
}

// DefaultTiming is about that of small virtual machines.
func DefaultTiming() Timing {
	return Timing{
		Boot: 20 * time.Second, Certify: 3 * time.Second, Install: 40 * time.Second, Shutdown: 5 * time.Second,
		TimeSync: 4 * time.Second, Services: 10 * time.Second, Etcd: 8 * time.Second,
		Join: 6 * time.Second, Promote: 10 * time.Second, Retry: 3 * time.Second, Pods: 12 * time.Second, Notice: 2 * time.Second,
	}
}

// shortest is the least time that anything takes.
const shortest = 10 * time.Millisecond

// Faster is how long machines take that are so many times as fast; 0 is at once,
// or nearly.
func (t Timing) Faster(times float64) Timing {
	for _, d := range []*time.Duration{&t.Boot, &t.Certify, &t.Install, &t.Shutdown, &t.TimeSync, &t.Services, &t.Etcd, &t.Join, &t.Promote, &t.Retry, &t.Pods, &t.Notice} {
		if times == 0 {
			*d = 0
		} else {
			*d = time.Duration(float64(*d) / times)
		}
		*d = max(*d, shortest)
	}
	return t
}

// Fleet is a set of machines, and the networks between them. It may be used by
// several goroutines.
type Fleet struct {
	clock  hetznersim.Clock
	random io.Reader
	timing Timing

	mu       sync.Mutex
	project  *hetznersim.Sim // whose servers the machines are; nil without
	now      time.Time       // up to when everything has happened
	machines []*Machine
	agenda   agenda
	clusters []*etcdCluster
	given    uint64 // how many ids were given away
	watch    watch
	// What snapshots of etcd hold, by the digests at their ends.
	snapshots map[[sha256.Size]byte]*kubesim.API
	noCNI     bool
	flux      *kubesim.Flux

	extensions map[string][]string
	called     func(Call)

	found *etcdCluster // see [Fleet.Stand]; nil: none was

	faults []*Fault
	front  func(http.Handler) http.Handler // see [Fleet.Front]
	calls  []Call
	count  int // calls since the last ResetCalls
}

// New returns a fleet without machines.
func New(o Options) *Fleet {
	if o.Clock == nil {
		o.Clock = hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	}
	if o.Timing == (Timing{}) {
		o.Timing = DefaultTiming()
	}
	return &Fleet{clock: o.Clock, random: o.Random, timing: o.Timing, now: o.Clock.Now(),
		noCNI: o.NoCNI, flux: o.Flux, extensions: o.Extensions, called: o.Called, snapshots: map[[sha256.Size]byte]*kubesim.API{}}
}

// Clock is the clock of the fleet. Code under test that sleeps with it makes the
// time of the machines pass.
func (f *Fleet) Clock() hetznersim.Clock { return f.clock }

// Add puts a machine into the fleet. It is off. Its name must be new.
func (f *Fleet) Add(s Spec) *Machine {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.machine(s.Name) != nil {
		panic("talossim: there is a machine " + s.Name + " already")
	}
	m := newMachine(f, s)
	f.machines = append(f.machines, m)
	return m
}

// Machine returns the machine with a name; nil if there is none.
func (f *Fleet) Machine(name string) *Machine {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.machine(name)
}

// Machines returns all of them, in the order in which they were added.
func (f *Fleet) Machines() []*Machine {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.machines)
}

func (f *Fleet) machine(name string) *Machine {
	if i := slices.IndexFunc(f.machines, func(m *Machine) bool { return m.spec.Name == name }); i >= 0 {
		return f.machines[i]
	}
	return nil
}

// Remove takes a machine away, with all that it has stored, as somebody does who
// deletes its server: what that does to etcd was chosen.
func (f *Fleet) Remove(name string) {
	f.change(chosen, func() { f.remove(name) })
}

// Lose is [Fleet.Remove] by fate: the machine burns.
func (f *Fleet) Lose(name string) {
	f.change(byItself, func() { f.remove(name) })
}

func (f *Fleet) remove(name string) {
	if m := f.machine(name); m != nil {
		m.powerOff()
		m.wipe()
		f.machines = slices.DeleteFunc(f.machines, func(o *Machine) bool { return o == m })
	}
}

// Settle lets everything happen that is due, as the next call would.
func (f *Fleet) Settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
}

// Close ends all connections.
func (f *Fleet) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.machines {
		m.hangUp()
	}
}

// settle lets happen what is due, in order, each event at its own time.
func (f *Fleet) settle() {
	end := f.clock.Now()
	for {
		e, due := f.agenda.next(end)
		if !due {
			break
		}
		f.now = e.at
		f.watched(byItself, e.do)
		f.follow()
	}
	f.now = end
}

// change makes a change from outside.
func (f *Fleet) change(c cause, do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	f.watched(c, do)
	f.follow()
	if c == chosen {
		f.watch.changes++
	}
}

// probe reads something from outside. Nothing is compared after it.
func (f *Fleet) probe(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	do()
}

// digest makes an identifier that is the same in each run of a test.
func (f *Fleet) digest(kind string) [sha256.Size]byte {
	f.given++
	return sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, f.given))
}

// newNumber returns a number that nothing else has.
func (f *Fleet) newNumber(kind string) uint64 {
	d := f.digest(kind)
	return binary.BigEndian.Uint64(d[:])
}

// newUUID returns an identifier in the form of the kernel's boot ids.
func (f *Fleet) newUUID(kind string) string {
	d := f.digest(kind)
	h := hex.EncodeToString(d[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// agenda is what is going to happen.
type agenda struct {
	events []event // by time, and those of one time in the order in which they came
}

type event struct {
	at time.Time
	do func()
}

// after lets something happen, unless the machine boots or is switched off
// meanwhile.
func (m *Machine) after(d time.Duration, do func()) {
	boot := m.boots
	m.fleet.agenda.add(event{m.fleet.now.Add(d), func() {
		if m.on && m.boots == boot {
			do()
		}
	}})
}

func (a *agenda) add(e event) {
	i, _ := slices.BinarySearchFunc(a.events, e, func(o, e event) int {
		if o.at.After(e.at) {
			return 1
		}
		return -1
	})
	a.events = slices.Insert(a.events, i, e)
}

// next takes the first event, if it is due.
func (a *agenda) next(now time.Time) (event, bool) {
	if len(a.events) == 0 || a.events[0].at.After(now) {
		return event{}, false
	}
	e := a.events[0]
	a.events = slices.Delete(a.events, 0, 1)
	return e, true
}
