package talossim

import (
	"fmt"
	"slices"

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
	end        bool // clients may end etcd
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
func (f *Fleet) Violations() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	return slices.Clone(f.watch.violations)
}

// watched makes a change, and compares etcd after it with before.
func (f *Fleet) watched(c cause, do func()) {
	before := f.safe()
	do()
	for _, cluster := range f.clusters {
		cluster.elect()
	}
	after := f.safe()
	for identity := range after {
		if before[identity] == nil {
			before[identity] = []etcdsafety.Member{}
		}
	}
	for identity, members := range before {
		for _, v := range etcdsafety.Check(members, after[identity], bool(c) && !f.watch.end) {
			v = fmt.Sprintf("%s: %s", f.now.UTC().Format("15:04:05"), v)
			if !slices.Contains(f.watch.violations, v) {
				f.watch.violations = append(f.watch.violations, v)
			}
		}
	}
}

// safe are the members of each cluster's etcd, and data that was left of one.
func (f *Fleet) safe() map[string][]etcdsafety.Member {
	all := map[string][]etcdsafety.Member{}
	for _, c := range f.clusters {
		members := c.safe()
		for _, m := range f.machines {
			if m.etcd.cluster == c && m.member() == nil {
				members = append(members, etcdsafety.Member{Node: m.spec.Name, Cluster: c.name()})
			}
		}
		all[c.identity] = append(all[c.identity], members...)
	}
	return all
}

// safe are the members as rules of safety see them.
func (c *etcdCluster) safe() (members []etcdsafety.Member) {
	for _, m := range c.members {
		members = append(members, etcdsafety.Member{
			Node: m.machine.spec.Name, Cluster: c.name(), Voter: !m.learner, Healthy: m.healthy(c),
		})
	}
	return members
}

func (c *etcdCluster) name() string { return fmt.Sprintf("%x", c.id) }
