package talossim

import (
	"slices"
	"time"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// Moment is how the control plane of a cluster that was found is, from a time on.
type Moment struct {
	At time.Time
	// How many control planes serve the Kubernetes API, and how many voters of etcd
	// are healthy, of how many.
	APIServers, Healthy, Voters int
	// Whether etcd can agree on things.
	Quorum bool
}

// same reports whether a moment differs from another one by its time only.
func (m Moment) same(o Moment) bool {
	m.At = o.At
	return m == o
}

// Timeline returns what was seen of the cluster since [Fleet.Stand]: of its control plane,
// the first moment being how it was found, and of its pods.
func (f *Fleet) Timeline() ([]Moment, kubesim.Timeline) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	if f.found == nil {
		return nil, kubesim.Timeline{}
	}
	return slices.Clone(f.found.moments), f.found.kube.Timeline()
}

// follow brings the pods of a cluster that was found up to date, as of now, and notes
// how its control plane is.
func (f *Fleet) follow() {
	c := f.found
	if c == nil {
		return
	}
	f.syncNodes(c)
	if due := c.kube.Due(); due.After(f.now) && !due.Equal(c.awaited) {
		c.awaited = due
		f.agenda.add(event{due, func() {}})
	}
	f.note(c)
}

// note notes a moment, if it differs from the one before.
func (f *Fleet) note(c *etcdCluster) {
	now := Moment{At: f.now, Quorum: c.quorum()}
	now.Voters, now.Healthy = c.counts()
	for _, m := range f.machines {
		if m.active != nil && m.active.cluster() == c.identity && m.reached() && m.servesKubernetes() {
			now.APIServers++
		}
	}
	if n := len(c.moments); n == 0 || !now.same(c.moments[n-1]) {
		c.moments = append(c.moments, now)
	}
}
