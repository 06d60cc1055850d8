package talossim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// cause says who makes a change.
type cause bool

const (
	chosen   cause = true  // a client, or whoever drives the machines on its behalf
	byItself cause = false // the machines, or fate
)

// watch is what was seen to go wrong.
type watch struct {
	violations []string
	end        bool   // clients may end etcd
	changes    uint64 // that were chosen, of machines that have an etcd
}

// LetEnd lets clients end etcd: that its quorum is lost by what they do is no
// violation any more. Two clusters always are.
func (f *Fleet) LetEnd() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch.end = true
}

// Violations returns what must never happen, and did: a second etcd cluster, or
// a client that has put the quorum of one at risk. See package etcdsafety.
//
// A client is judged by what it could know. A member that is lost by itself
// counts as well all the same, if nothing was done to etcd between the moment at
// which the member itself said that it is well and the one at which the client
// stops another one, if that was not long, and if nobody noticed meanwhile that
// it is gone. So whoever stops a member has to ask all of them right before: a
// look that is older is no excuse, and neither is one that was not made.
func (f *Fleet) Violations() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	return slices.Clone(f.watch.violations)
}

// violate notes what must never happen.
func (f *Fleet) violate(format string, args ...any) {
	v := fmt.Sprintf("%s: %s", f.now.UTC().Format("15:04:05"), fmt.Sprintf(format, args...))
	if !slices.Contains(f.watch.violations, v) {
		f.watch.violations = append(f.watch.violations, v)
	}
}

// watched makes a change, and compares etcd after it with before.
func (f *Fleet) watched(c cause, do func()) {
	before, well := f.safe(), f.well()
	do()
	for _, cluster := range f.clusters {
		cluster.elect()
	}
	if c == chosen {
		for _, m := range well {
			if !m.well() {
				m.said = nil // who has stopped it knows
			}
		}
	}
	after := f.safe()
	if maps.EqualFunc(before, after, slices.Equal) {
		return
	}
	for identity := range after {
		if before[identity] == nil {
			before[identity] = []etcdsafety.Member{}
		}
	}
	for identity, members := range before {
		for _, v := range etcdsafety.Check(members, after[identity], bool(c) && !f.watch.end) {
			f.violate("%s", v)
		}
	}
}

// well are the machines with a healthy member of etcd.
func (f *Fleet) well() (list []*Machine) {
	for _, m := range f.machines {
		if m.well() {
			list = append(list, m)
		}
	}
	return list
}

func (m *Machine) well() bool {
	own := m.member()
	return own != nil && own.healthy(m.etcd.cluster)
}

// word is what a member has said: that it is well.
type word struct {
	at      time.Time
	changes uint64 // that there were before
}

// believedFor is how long a client may believe it. Longer than a look takes.
const believedFor = time.Minute

// believed reports whether a member is healthy, or a client may think so.
func (m *member) believed(c *etcdCluster) bool {
	said, f := m.machine.said, m.machine.fleet
	return m.healthy(c) || said != nil && said.changes == f.watch.changes && f.now.Sub(said.at) <= believedFor
}

// safe are the members of each cluster's etcd, as a client may think of them, and
// data that was left of one.
func (f *Fleet) safe() map[string][]etcdsafety.Member {
	all := map[string][]etcdsafety.Member{}
	for _, c := range f.clusters {
		members := c.safe((*member).believed)
		for _, m := range f.machines {
			if m.etcd.cluster == c && m.member() == nil {
				members = append(members, etcdsafety.Member{Node: m.spec.Name, Cluster: c.name()})
			}
		}
		all[c.identity] = append(all[c.identity], members...)
	}
	return all
}

// judge says whether a member of a cluster is healthy.
type judge func(*member, *etcdCluster) bool

// safe are the members as rules of safety see them.
func (c *etcdCluster) safe(healthy judge) (members []etcdsafety.Member) {
	for _, m := range c.members {
		members = append(members, etcdsafety.Member{
			Node: m.machine.spec.Name, Cluster: c.name(), Voter: !m.learner, Healthy: healthy(m, c),
		})
	}
	return members
}

func (c *etcdCluster) name() string { return strconv.FormatUint(c.id, 16) }
