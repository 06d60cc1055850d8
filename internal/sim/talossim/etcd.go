package talossim

import (
	"net"
	"slices"
	"time"

	"github.com/talosgen/talosgen/internal/etcdsafety"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/internal/versions"
)

// etcdCluster is an etcd cluster, from its bootstrap until the last machine that
// has its data is gone.
type etcdCluster struct {
	brought  bool // Talos has made its objects in Kubernetes
	id       uint64
	identity string // the cluster that its nodes are configured for
	members  []*member
	leader   uint64
	term     uint64
	index    uint64
	minor    int             // of the version of its storage
	kube     *kubesim.API    // what Kubernetes keeps in it
	tokens   map[string]bool // that kubelets may join with
	// Nodes of Kubernetes that are no machines of the fleet, where it was found so.
	strangers map[string]bool
	moments   []Moment  // of one that was found
	awaited   time.Time // when its next pod is ready
}

// member is a member, as the others know it.
type member struct {
	id      uint64
	name    string // empty until it has started
	peer    string // URL
	learner bool
	machine *Machine
}

// etcdDisk is what etcd has on a disk.
type etcdDisk struct {
	cluster *etcdCluster // nil: the data directory is empty
	member  uint64
	upload  []byte // a snapshot to recover from
}

// etcdRun is what etcd does in this boot.
type etcdRun struct {
	serving      bool
	stopped      bool // until the next boot
	bootstrapped bool // it was told to, and will have data soon
	since        time.Time
	halted       bool   // told again just as it began: it stays stopped until the next boot
	failed       string // why it cannot start
}

// startEtcd starts the service: it serves what it has, or waits to join.
func (m *Machine) startEtcd() {
	switch {
	case !m.up() || m.run.stopped || m.run.serving || m.run.bootstrapped:
	case m.etcd.cluster != nil:
		m.after(m.fleet.timing.Etcd, m.serveEtcd)
	default:
		m.join()
	}
}

// serveEtcd serves the data, unless the member was removed.
func (m *Machine) serveEtcd() {
	if !m.up() || m.run.stopped || m.etcd.cluster == nil {
		return
	}
	own := m.member()
	if own == nil {
		m.run.failed = "the member has been permanently removed from the cluster"
		return
	}
	if m.tooOld() {
		return
	}
	m.run.serving, m.run.failed, own.name = true, "", m.nodeName()
	m.etcd.cluster.elect()
	m.etcd.cluster.version()
	m.fleet.progress()
}

// join tries to become a member of the etcd of the cluster that the machine is
// configured for.
func (m *Machine) join() {
	if !m.up() || m.run.stopped || m.run.bootstrapped || m.etcd.cluster != nil {
		return
	}
	c := m.fleet.serving(m.active.cluster())
	if c == nil || m.cut || !c.admits() {
		m.after(m.fleet.timing.Retry, m.join)
		return
	}
	// What has its name is taken for what it was before.
	c.members = slices.DeleteFunc(c.members, func(o *member) bool { return o.name == m.nodeName() })
	own := &member{id: m.fleet.newNumber("member"), peer: m.peerURL(), learner: true, machine: m}
	c.members = append(c.members, own)
	c.minor = min(c.minor, versions.Minor(m.etcdVersion())) // a fleet may begin as one whose upgrade was interrupted
	c.index++
	m.etcd.cluster, m.etcd.member = c, own.id
	m.after(m.fleet.timing.Join, func() {
		m.serveEtcd()
		m.after(m.fleet.timing.Promote, m.promote)
	})
}

// promote gives a learner its vote, as soon as the others agree.
func (m *Machine) promote() {
	c, own := m.etcd.cluster, m.member()
	if !m.run.serving || own == nil || !own.learner {
		return
	}
	if !c.quorum() || m.cut {
		m.after(m.fleet.timing.Retry, m.promote)
		return
	}
	own.learner = false
	c.index++
	m.fleet.progress()
}

// create makes a cluster of one member. The data is on the disk some time after
// the call.
func (m *Machine) create(recovered bool) {
	m.run = etcdRun{bootstrapped: true, since: m.fleet.now}
	m.after(m.fleet.timing.Etcd, func() {
		m.run.bootstrapped = false
		if !m.up() || m.run.stopped {
			return
		}
		f := m.fleet
		c := &etcdCluster{id: f.newNumber("etcd"), identity: m.active.cluster(), term: 1, index: 1}
		if recovered {
			c.kube = f.recovered(m.etcd.upload)
		} else {
			c.kube = kubesim.New(m.active.kubernetes(), f.clock.Now)
		}
		if c.kube == nil {
			m.run.failed = "the snapshot cannot be recovered"
			return
		}
		c.members = []*member{{id: f.newNumber("member"), peer: m.peerURL(), machine: m}}
		m.etcd.cluster, m.etcd.member = c, c.members[0].id
		f.clusters = append(f.clusters, c)
		if m.run.halted {
			m.run.stopped = true
			return
		}
		m.serveEtcd()
	})
}

// dropData empties the data directory.
func (m *Machine) dropData() {
	m.etcd = etcdDisk{}
	f := m.fleet
	f.clusters = slices.DeleteFunc(f.clusters, func(c *etcdCluster) bool {
		return !slices.ContainsFunc(f.machines, func(m *Machine) bool { return m.etcd.cluster == c })
	})
}

// progress looks at all machines: one more voter may be what others wait for.
func (f *Fleet) progress() {
	for _, m := range f.machines {
		m.progress()
	}
}

// serving returns the etcd of a cluster that can agree on things; nil if there
// is none.
func (f *Fleet) serving(identity string) *etcdCluster {
	for _, c := range f.clusters {
		if c.identity == identity && c.quorum() {
			return c
		}
	}
	return nil
}

// member returns the membership of the machine; nil if others have removed it.
func (m *Machine) member() *member {
	if m.etcd.cluster == nil {
		return nil
	}
	return m.etcd.cluster.member(m.etcd.member)
}

func (m *Machine) votes() bool {
	own := m.member()
	return m.run.serving && own != nil && !own.learner && m.etcd.cluster.quorum()
}

// peerURL is where other members reach it.
func (m *Machine) peerURL() string {
	return "https://" + net.JoinHostPort(m.address(), "2380")
}

// nodeName is what the machine is called among others.
func (m *Machine) nodeName() string {
	if m.active != nil && m.active.hostname != "" {
		return m.active.hostname
	}
	return m.spec.Name
}

func (c *etcdCluster) member(id uint64) *member {
	if i := slices.IndexFunc(c.members, func(m *member) bool { return m.id == id }); i >= 0 {
		return c.members[i]
	}
	return nil
}

func (c *etcdCluster) remove(id uint64) {
	c.members = slices.DeleteFunc(c.members, func(m *member) bool { return m.id == id })
	c.index++
	if c.leader == id {
		c.leader = 0
	}
}

// healthy reports whether a member serves, and the others reach it.
func (m *member) healthy(c *etcdCluster) bool {
	return m.machine.etcd.cluster == c && m.machine.etcd.member == m.id && m.machine.run.serving && m.machine.reached()
}

// Members returns the names of the machines that vote in the etcd of a machine's
// cluster, in order, those that are gone with their peer address.
func (f *Fleet) Members(machine string) (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	m := f.machine(machine)
	if m == nil || m.etcd.cluster == nil {
		return nil
	}
	for _, member := range m.etcd.cluster.members {
		name := member.peer
		if member.machine != nil && slices.Contains(f.machines, member.machine) {
			name = member.machine.spec.Name
		}
		if member.learner {
			name += " (learner)"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// counts returns how many voters there are, and how many are healthy.
func (c *etcdCluster) counts() (voters, healthy int) {
	return etcdsafety.Count(c.safe((*member).healthy))
}

func (c *etcdCluster) quorum() bool {
	voters, healthy := c.counts()
	return voters > 0 && healthy >= etcdsafety.Quorum(voters)
}

// admits reports whether a member can be added: one learns at a time.
func (c *etcdCluster) admits() bool {
	return !slices.ContainsFunc(c.members, func(m *member) bool { return m.learner && m.name == "" || m.learner && m.healthy(c) })
}

// elect makes a voter the leader, if there is none.
func (c *etcdCluster) elect() {
	if !c.quorum() {
		c.leader = 0
		return
	}
	if now := c.member(c.leader); now != nil && now.healthy(c) {
		return
	}
	for _, m := range c.members {
		if !m.learner && m.healthy(c) {
			c.leader = m.id
			c.term++
			return
		}
	}
}

// unhealthyCluster is what etcd says if too few members would be left that live.
const unhealthyCluster = "etcdserver: unhealthy cluster"

// refusal says why etcd itself does not remove a member.
func (c *etcdCluster) refusal(id uint64) string {
	gone := c.member(id)
	started, others, active := 0, 0, 0
	for _, m := range c.members {
		if m.learner {
			continue
		}
		if m.healthy(c) {
			active++
		}
		if m.id != id {
			others++
			if m.name != "" {
				started++
			}
		}
	}
	switch {
	case gone.learner:
		return ""
	case started < etcdsafety.Quorum(others):
		return "etcdserver: re-configuration failed due to not enough started members"
	case gone.healthy(c) && active-1 < etcdsafety.Quorum(others):
		return unhealthyCluster
	}
	return ""
}
