package bootstrap_test

import (
	"fmt"

	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
)

// A race is a small world in which runs that no lock keeps apart want to bootstrap
// the same control planes. It is a value: where it can go from here is tried one by
// one, or at random. Time passes in ticks, between any two small steps of a run; the
// one thing that is given is that what is written arrives before Hold is over.
type race struct {
	now    int32
	planes [3]contested
	runs   [3]racer
	calls  int8 // that told a node to begin etcd
	twice  bool // while it had begun already, or another one had
	two    bool // while another one had: there are two etcd clusters
}

// contested is a control plane.
type contested struct {
	boot  int8
	on    mark
	begun int32 // when it was told to begin etcd in this boot; 0: it was not
	data  bool
}

// mark is a note, in short.
type mark struct {
	kind byte // 0, announced or called
	run  int8
	node int8
	boot int8
	tree int8
	at   int32
}

const (
	announced = 'a'
	called    = 'c'
)

// racer is a run. It reads the control planes of its tree one by one, decides, and
// writes on them one by one.
type racer struct {
	id     int8
	tree   int8  // bits of control planes
	skew   int32 // of its clock
	doing  byte
	at     int8  // the control plane
	began  int32 // the look
	base   int32 // the claim
	read   [3]contested
	since  [3]int32 // it has known the note since
	was    [3]contested
	looked bool // was holds a look
	node   int8 // recorded; -1: none
	told   int32
	to     mark // what it writes
	own    mark // its announcement
	ownAt  int32
	doomed bool // killed: what is under way arrives
	over   bool
}

// What a run does.
const (
	looks = iota
	announces
	announceArrives
	claims
	claimArrives
	callArrives
	sleeps
)

const (
	tick = bootstrap.Hold / 2
	// dataAfter is how long etcd takes from the call until it has data: with Hold,
	// in which the call arrives, and the same for looking, that is Pause.
	dataAfter = bootstrap.Pause - 2*bootstrap.Hold
)

var (
	raceNames = [3]string{"cp-1", "cp-2", "cp-3"}
	raceIDs   = func() (ids [128]string) {
		for i := range ids {
			ids[i] = fmt.Sprint("id-", i)
		}
		return ids
	}()
)

// raceAmong are the control planes of each tree.
var raceAmong = [8]string{"", "cp-1", "cp-2", "cp-1,cp-2", "cp-3", "cp-1,cp-3", "cp-2,cp-3", "cp-1,cp-2,cp-3"}

func newRace(trees ...int8) race {
	w := race{now: 1}
	for i := range w.runs {
		w.runs[i].over = true
	}
	for i, tree := range trees {
		w.runs[i] = racer{id: int8(i + 1), tree: tree, node: -1}
	}
	return w
}

// next is the next control plane of the tree of a run; -1: there is none.
func (r *racer) next(from int8) int8 {
	for i := from; i < 3; i++ {
		if r.tree>>i&1 == 1 {
			return i
		}
	}
	return -1
}

func (m mark) note() (n bootstrap.Note) {
	if m.kind == 0 {
		return n
	}
	n = bootstrap.Note{Node: raceNames[m.node], Boot: raceIDs[m.boot], At: int64(m.at)}
	if m.kind == announced {
		n.Run = raceIDs[m.run]
		n.Among = raceAmong[m.tree]
	}
	return n
}

// rules are how a model differs from what is true.
type rules struct {
	hasty bool // nobody waits for Hold
	blind bool // nobody looks how long writing takes
	first bool // no turns: who reads no note of a call notes its own, and calls
}

// step takes one small step of a run.
func (w *race) step(r *racer, rules rules) {
	switch r.doing {
	case looks:
		w.look(r, rules)
	case announces, claims:
		since := r.began
		if r.doing == claims {
			since = r.base
		}
		if w.now-since >= bootstrap.Hold/2 && !rules.blind {
			r.doing = sleeps
			return
		}
		r.doing++
	case announceArrives, claimArrives:
		w.arrive(r, rules)
	case callArrives:
		w.call(r)
		r.doing = sleeps
	}
	if r.doomed && r.doing != announceArrives && r.doing != claimArrives && r.doing != callArrives {
		r.over = true
	}
	r.forget()
}

// forget drops what makes no difference any more, so that what is the same from here
// on is tried once.
func (r *racer) forget() {
	switch {
	case r.over:
		*r = racer{over: true}
	case r.doing == sleeps || r.doing == looks && r.at == 0:
		r.to, r.base, r.began = mark{}, 0, 0
	}
	for i := range r.was {
		r.was[i].on, r.was[i].begun, r.read[i].begun = mark{}, 0, 0
	}
}

func (w *race) look(r *racer, rules rules) {
	if r.at == 0 {
		r.began, r.at = w.now, r.next(0)
	}
	seen := w.planes[r.at]
	if seen.on != r.read[r.at].on {
		r.since[r.at] = w.now
	}
	r.read[r.at] = seen
	if r.at = r.next(r.at + 1); r.at >= 0 {
		return
	}
	w.decide(r, rules)
	r.was, r.looked = r.read, true
	r.at = 0
	if r.doing != looks && r.doing != sleeps {
		r.at = r.next(0)
	}
}

// seen is an observation as the package takes it.
func (r *racer) seen(controlPlanes [3]contested, now int32) (o bootstrap.Observation) {
	o.At, o.Run, o.Own, o.Age = int64(now+r.skew), raceIDs[r.id], r.own.note(), int64(r.began-r.ownAt)
	if r.node >= 0 {
		o.Intent.Node = raceNames[r.node]
	}
	for i := r.next(0); i >= 0; i = r.next(i + 1) {
		p := bootstrap.ControlPlane{
			Name: raceNames[i], InTree: true, BootID: raceIDs[controlPlanes[i].boot], State: bootstrap.Empty,
			Note: controlPlanes[i].on.note(), Seen: int64(r.began - r.since[i]),
		}
		if controlPlanes[i].data {
			p.State = bootstrap.Serving
		}
		o.ControlPlanes = append(o.ControlPlanes, p)
		if on := controlPlanes[i].on; on.kind == called { // it is followed
			o.Intent.Node = raceNames[on.node]
		}
	}
	if r.told > 0 && r.node >= 0 {
		o.Intent.CalledBoot, o.Intent.CalledAt = raceIDs[controlPlanes[r.node].boot], int64(r.told+r.skew)
	}
	return o
}

func (w *race) decide(r *racer, rules rules) {
	now, earlier := r.seen(r.read, w.now), bootstrap.Observation{}
	if r.looked {
		earlier = r.seen(r.was, w.now)
	}
	if rules.hasty && now.Age < bootstrap.Hold {
		now.Age = bootstrap.Hold
	}
	d := bootstrap.Decide(now, earlier, "")
	node := int8(-1)
	for i, name := range raceNames {
		if name == d.Node {
			node = int8(i)
		}
	}
	r.doing = sleeps
	if rules.first && d.Action == bootstrap.Announce {
		d.Action = bootstrap.Call
	}
	switch d.Action {
	case bootstrap.Record:
		r.node, r.doing = node, looks
	case bootstrap.ObserveAgain:
		r.doing = looks
	case bootstrap.Announce:
		r.to = mark{kind: announced, run: r.id, node: node, boot: r.read[node].boot, tree: r.tree, at: w.now + r.skew}
		r.own, r.doing = mark{}, announces
	case bootstrap.Call:
		if w.now-r.ownAt < bootstrap.Valid || rules.blind || rules.first {
			r.to = mark{kind: called, run: r.id, node: node, boot: r.read[node].boot, at: w.now + r.skew}
			r.base, r.doing = w.now, claims
		}
	case bootstrap.MarkDone, bootstrap.Finished, bootstrap.Refuse:
		r.over = true
	}
}

// arrive lets what a run has written arrive.
func (w *race) arrive(r *racer, rules rules) {
	w.planes[r.at].on = r.to
	r.doing--
	if r.at = r.next(r.at + 1); r.at >= 0 {
		return
	}
	r.at = 0
	if r.doing == announces {
		if w.now-r.began < bootstrap.Hold/2 || rules.blind {
			r.own, r.ownAt = r.to, w.now
		}
		r.doing = sleeps
		return
	}
	r.doing = sleeps
	if !r.doomed && (w.now-r.base < bootstrap.Hold/2 || rules.blind) {
		r.doing = callArrives
	}
}

func (w *race) call(r *racer) {
	p := &w.planes[r.to.node]
	if p.boot != r.to.boot {
		return // a connection does not outlive a boot
	}
	for i, o := range w.planes {
		w.twice = w.twice || o.begun > 0 || o.data
		w.two = w.two || o.begun > 0 && int8(i) != r.to.node
	}
	p.begun, r.told = w.now, w.now
	w.calls++
}

// mayPass reports whether time may pass: not longer than what is under way takes.
func (w *race) mayPass() bool {
	for _, r := range w.runs {
		late := w.now + tick
		switch {
		case r.over:
		case r.doing == announceArrives && late-r.began >= bootstrap.Hold,
			r.doing == claimArrives && late-r.base >= bootstrap.Hold,
			r.doing == callArrives && late-r.base >= bootstrap.Hold+bootstrap.Hold/2:
			return false
		}
	}
	return true
}

func (w *race) pass() {
	w.now += tick
	for i := range w.runs {
		if r := &w.runs[i]; r.doing == sleeps {
			r.doing = looks
		}
	}
	for i := range w.planes {
		if p := &w.planes[i]; p.begun > 0 && w.now-p.begun >= dataAfter {
			for j := range w.planes { // the others join
				w.planes[j].data = true
			}
		}
	}
}

func (r *racer) kill() {
	r.doomed = true
	r.over = r.over || r.doing != announceArrives && r.doing != claimArrives && r.doing != callArrives
	r.forget()
}
