package bootstrap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// A world of machines, in which runs of apply take one small step each, in any
// order, while nodes reboot, break and are replaced. Whatever the order is, there
// are never two etcd clusters.
type world struct {
	random   *rand.Rand
	machines map[string]*machine // by the name of the node
	intent   bootstrap.Intent
	holder   *run // of the lock; nil: nobody
	counter  int
	now      int64    // seconds
	made     int      // etcd clusters
	from     []string // the snapshots that they were made from
	trace    []string
}

type machine struct {
	id, boot   string
	configured bool
	reachable  bool
	cluster    string // of the data of etcd; empty: there is none
	up         bool   // etcd serves
}

// run is one apply: what it has seen, and what it is about to do.
type run struct {
	name    string
	tree    []string // the control planes of its tree
	locks   bool     // whether it cares for the lock
	wants   string   // the snapshot that it recovers from
	alone   bool     // what it records nobody else sees, nor itself once it was killed
	own     bootstrap.Intent
	now     bootstrap.Observation
	earlier bootstrap.Observation
	todo    []string // control planes to look at; the first step is the intent
	begun   bool
	decided *bootstrap.Decision
	over    bool
}

func (w *world) id(what string) string {
	w.counter++
	return fmt.Sprintf("%s%d", what, w.counter)
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *world) replace(name string) {
	w.machines[name] = &machine{id: w.id("machine"), boot: w.id("boot"), reachable: true}
	w.note("%s is a new machine", name)
}

// step takes one small step of a run.
func (w *world) step(r *run) {
	w.now += 10
	switch {
	case r.over:
	case r.locks && w.holder != r:
		if w.holder == nil {
			w.holder = r
			*r = run{name: r.name, tree: r.tree, locks: true, wants: r.wants}
			w.note("%s has the lock", r.name)
		}
	case r.decided != nil:
		w.execute(r, *r.decided)
		r.decided = nil
	case !r.begun:
		r.begun, r.now = true, bootstrap.Observation{Intent: *w.recorded(r), At: w.now}
		r.todo = slices.Clone(r.tree)
		for name := range w.machines {
			if !slices.Contains(r.todo, name) {
				r.todo = append(r.todo, name)
			}
		}
		slices.Sort(r.todo)
	case len(r.todo) > 0:
		i := w.random.IntN(len(r.todo))
		r.now.ControlPlanes = append(r.now.ControlPlanes, w.look(r, r.todo[i]))
		r.todo = slices.Delete(r.todo, i, i+1)
	default:
		d := bootstrap.Decide(r.now, r.earlier, r.wants)
		w.note("%s: %s %s", r.name, d.Action, d.Node)
		r.decided, r.earlier, r.begun = &d, r.now, false
	}
}

// recorded is where a run reads and writes its intent.
func (w *world) recorded(r *run) *bootstrap.Intent {
	if r.alone {
		return &r.own
	}
	return &w.intent
}

func (w *world) look(r *run, name string) bootstrap.ControlPlane {
	p := bootstrap.ControlPlane{Name: name, InTree: slices.Contains(r.tree, name)}
	m := w.machines[name]
	if m == nil || !m.reachable {
		return p
	}
	if !m.configured && p.InTree && w.random.IntN(2) == 0 {
		m.configured = true
	}
	p.Machine, p.BootID = m.id, m.boot
	switch {
	case !m.configured:
		p.State = bootstrap.Maintenance
	case m.cluster == "":
		p.State = bootstrap.Empty
	case m.up:
		p.State, p.Cluster = bootstrap.Serving, m.cluster
	default:
		p.State = bootstrap.Data
	}
	w.note("%s sees %s: %s", r.name, name, p.State)
	return p
}

func (w *world) execute(r *run, d bootstrap.Decision) {
	switch d.Action {
	case bootstrap.Record:
		*w.recorded(r) = bootstrap.Intent{Node: d.Node, Machine: d.Machine, Snapshot: d.Snapshot}
	case bootstrap.MarkDone:
		*w.recorded(r) = bootstrap.Intent{Node: d.Node, Machine: d.Machine, Snapshot: w.recorded(r).Snapshot, Done: true}
	case bootstrap.Call:
		w.recorded(r).CalledBoot, w.recorded(r).CalledAt = d.BootID, w.now
		m := w.machines[d.Node]
		// A connection does not outlive a boot, and Talos refuses where data is.
		if m != nil && m.boot == d.BootID && m.reachable && m.configured && m.cluster == "" {
			m.cluster, m.up = w.id("etcd"), true
			w.made++
			w.from = append(w.from, d.Snapshot)
			w.note("%s is bootstrapped: %s", d.Node, m.cluster)
		}
	case bootstrap.Finished, bootstrap.Refuse:
		r.over = true
		if w.holder == r {
			w.holder = nil
		}
	}
}

// event is what befalls the world.
func (w *world) event(runs []*run) {
	names := make([]string, 0, len(w.machines))
	for name := range w.machines {
		names = append(names, name)
	}
	slices.Sort(names)
	name := names[w.random.IntN(len(names))]
	m := w.machines[name]
	switch w.random.IntN(9) {
	case 0:
		m.boot = w.id("boot")
	case 1:
		w.replace(name)
	case 2:
		m.reachable = !m.reachable
	case 3:
		m.up = false
	case 4:
		w.holder = nil // it expired; who held it begins anew
	case 5:
		r := runs[w.random.IntN(len(runs))] // killed, and started again
		if w.holder == r {
			w.holder = nil
		}
		*r = run{name: r.name, tree: r.tree, locks: r.locks, wants: r.wants, alone: r.alone}
	default: // etcd starts, or a node joins it
		m.up = m.cluster != ""
		for _, other := range names {
			if o := w.machines[other]; m.configured && m.cluster == "" && o.up && o.reachable && m.reachable {
				m.cluster, m.up = o.cluster, true
				w.note("%s joins %s", name, m.cluster)
			}
		}
	}
}

func (w *world) members() (members []etcdsafety.Member) {
	for name, m := range w.machines {
		if m.cluster != "" {
			members = append(members, etcdsafety.Member{Node: name, Cluster: m.cluster, Voter: true, Healthy: m.up})
		}
	}
	return members
}

// schedule runs one world to its end.
func schedule(t *testing.T, seed uint64, intent bootstrap.Intent, runs []*run) (made int, from []string) {
	t.Helper()
	w := &world{random: rand.New(rand.NewPCG(seed, 7)), machines: map[string]*machine{}, intent: intent}
	for _, name := range []string{"cp-1", "cp-2", "cp-3"} {
		w.replace(name)
	}
	for range 400 {
		before := w.members()
		if w.random.IntN(12) == 0 {
			w.event(runs)
		} else {
			w.step(runs[w.random.IntN(len(runs))])
		}
		if v := etcdsafety.Check(before, w.members(), false); len(v) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, v, strings.Join(w.trace, "\n"))
		}
	}
	return w.made, w.from
}

// Two runs with the same tree, as if there was no lock at all.
func TestNeverTwoClustersWithoutLock(t *testing.T) {
	made := 0
	for seed := range uint64(3000) {
		tree := []string{"cp-1", "cp-2", "cp-3"}
		n, _ := schedule(t, seed, bootstrap.Intent{}, []*run{{name: "A", tree: tree}, {name: "B", tree: tree}})
		made += n
	}
	if made < 1000 {
		t.Errorf("only %d clusters were made: the schedules show little", made)
	}
}

// Two runs with the same tree, for machines that exist already: there is no lock,
// and nothing is recorded where the other one could see it.
func TestNeverTwoClustersOfMachinesThatExist(t *testing.T) {
	made := 0
	for seed := range uint64(3000) {
		tree := []string{"cp-1", "cp-2", "cp-3"}
		n, _ := schedule(t, seed, bootstrap.Intent{}, []*run{{name: "A", tree: tree, alone: true}, {name: "B", tree: tree, alone: true}})
		made += n
	}
	if made < 1000 {
		t.Errorf("only %d clusters were made: the schedules show little", made)
	}
}

// Three runs whose trees differ: the lock is what keeps them apart.
func TestNeverTwoClustersFromDifferentTrees(t *testing.T) {
	made := 0
	for seed := range uint64(2000) {
		n, _ := schedule(t, seed, bootstrap.Intent{}, []*run{
			{name: "A", locks: true, tree: []string{"cp-1", "cp-2", "cp-3"}},
			{name: "B", locks: true, tree: []string{"cp-2", "cp-3"}},
			{name: "C", locks: true, tree: []string{"cp-0", "cp-1", "cp-2"}},
		})
		made += n
	}
	if made < 300 {
		t.Errorf("only %d clusters were made: the schedules show little", made)
	}
}

// A cluster that has lost its etcd is recovered by some runs, which are killed,
// while another knows of no snapshot, without any lock: no etcd begins empty.
func TestNeverEmptyAfterRecovery(t *testing.T) {
	made := 0
	for seed := range uint64(2000) {
		tree := []string{"cp-1", "cp-2", "cp-3"}
		lost := bootstrap.Intent{Node: "cp-1", Machine: "gone", Done: true}
		n, from := schedule(t, seed, lost, []*run{{name: "A", tree: tree, wants: "X"}, {name: "B", tree: tree}, {name: "C", tree: tree, wants: "X"}})
		made += n
		if slices.Contains(from, "") {
			t.Fatalf("seed %d: an empty etcd was made: %q", seed, from)
		}
	}
	if made < 500 {
		t.Errorf("only %d clusters were made: the schedules show little", made)
	}
}

// Left alone, a run comes to an end: one cluster, on the first node.
func TestBootstrapsAndFinishes(t *testing.T) {
	w := &world{random: rand.New(rand.NewPCG(1, 1)), machines: map[string]*machine{}}
	tree := []string{"cp-1", "cp-2", "cp-10"}
	for _, name := range tree {
		w.replace(name)
	}
	r := &run{name: "A", tree: tree, locks: true}
	for range 200 {
		w.step(r)
	}
	if !r.over || w.made != 1 || w.machines["cp-1"].cluster == "" || !w.intent.Done {
		t.Errorf("%d clusters, intent %+v\n%s", w.made, w.intent, strings.Join(w.trace, "\n"))
	}
}
