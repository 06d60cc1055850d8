package upgrade_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/etcdsafety"
	"github.com/talosgen/talosgen/internal/versions"
)

// machine is a node of a model of a cluster: what really is, whatever anybody
// observes.
type machine struct {
	upgrade.Node
	slots    [2]system // of the bootloader
	running  int       // the slot that runs
	next     int       // the slot that the next boot takes
	tagged   bool      // a failed boot goes back to the other slot
	installs int       // in this boot
	backs    int       // rollbacks in this boot
	boots    int
	down     int  // rounds until it is back; below 0: until it is switched on by hand
	busy     int  // rounds until the installer is done
	dead     bool // for good
	deleted  bool // its server is gone, and its Node is left
}

// system is what a slot holds.
type system struct {
	talos, schematic string
	extensions       []string
}

// world is a model of a cluster, of what befalls it, and of what must never be true.
type world struct {
	machines   []*machine
	want       upgrade.Desired
	policy     upgrade.Policy
	leader     string
	manifests  string
	saved      []string // by this run
	run        int
	silent     int // rounds in which etcd does not say its members
	chance     *rand.Rand
	faults     bool
	violations []string
	log        []string
	storage    int // the minor of what etcd writes
	start      start
	made       int // nodes that the autoscaler has made since
}

func (w *world) violate(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

func (w *world) machine(name string) *machine {
	i := slices.IndexFunc(w.machines, func(m *machine) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return w.machines[i]
}

func (m *machine) up() bool { return m.down == 0 && !m.dead && !m.deleted }

// observe is what a run sees.
func (w *world) observe() upgrade.Observed {
	o := upgrade.Observed{Known: w.silent == 0, Manifests: w.manifests, Run: fmt.Sprint("run ", w.run), Saved: w.saved}
	w.elect()
	for _, m := range w.machines {
		n := m.Node
		n.Reached, n.Ready, n.Busy, n.Boot, n.Stage = m.up(), m.up(), m.busy > 0, fmt.Sprint(m.boots), upgrade.StageRunning
		n.Up = 10
		if !n.Reached { // Kubernetes knows no more than its Talos
			n.Schematic, n.Extensions, n.Platform, n.Boot, n.Stage = "", nil, "", "", ""
		}
		n.Programs = map[string]upgrade.Program{}
		for name, p := range m.Programs {
			n.Programs[name] = p
		}
		if m.Mark != nil {
			mark := *m.Mark
			n.Mark = &mark
		}
		o.Nodes = append(o.Nodes, n)
		if n.Role == upgrade.ControlPlane && w.silent == 0 {
			o.Members = append(o.Members, upgrade.Member{Node: n.Name, Healthy: m.up(), Leader: m.Name == w.leader, Version: upgradepath.Etcd(n.Talos), Storage: fmt.Sprintf("3.%d.0", w.storage)})
		}
	}
	if !o.Alike() {
		o.Manifests = "" // which objects are meant is not known
	}
	return o
}

// elect lets a member lead that is up.
func (w *world) elect() {
	if m := w.machine(w.leader); m != nil && m.up() {
		return
	}
	for _, m := range w.machines {
		if m.Role == upgrade.ControlPlane && m.up() {
			w.leader = m.Name
		}
	}
}

// tick lets time pass.
func (w *world) tick() {
	w.write()
	w.silent = max(w.silent-1, 0)
	for _, m := range w.machines {
		if m.down > 0 {
			m.down--
		}
		if m.busy > 0 {
			m.busy--
		}
		for name, p := range m.Programs {
			if p.Running != "" && m.up() {
				m.Programs[name] = upgrade.Program{Configured: p.Configured, Running: p.Configured, Ready: true}
			}
		}
	}
}

// befalls reports whether a fault strikes, one time of some.
func (w *world) befalls(of int) bool { return w.faults && w.chance.IntN(of) == 0 }

// take takes a step, and reports whether the run goes on.
func (w *world) take(s upgrade.Step) bool {
	w.log = append(w.log, fmt.Sprintf("%s %s %s", s.Action, s.Node, s.Version))
	w.before(s)
	m := w.machine(s.Node)
	if m != nil && !m.up() && s.Action != upgrade.Delete {
		return false // the call gets no answer
	}
	switch s.Action {
	case upgrade.Pull:
		if w.befalls(20) {
			return false // it stalls
		}
		m.Images = append(m.Images, s.Image)
	case upgrade.Snapshot:
		w.saved = append(w.saved, s.Hop)
	case upgrade.Drain:
		if m.Drained = !m.Cordoned; w.befalls(20) {
			m.Drained = false // a budget stands against it
			return false
		}
	case upgrade.Uncordon:
		m.Drained = false
	case upgrade.Install:
		return w.install(m, s)
	case upgrade.Transfer:
		i := slices.IndexFunc(w.machines, func(o *machine) bool { return o.Role == upgrade.ControlPlane && o.up() && o != m })
		w.leader = w.machines[i].Name
	case upgrade.Boot:
		w.boot(m)
	case upgrade.Rollback:
		return w.rollback(m, s)
	case upgrade.Confirm, upgrade.Forget:
		if m.Mark = nil; s.Before != nil {
			m.Before = s.Before
		}
	case upgrade.Configure:
		w.configure(m, s)
	case upgrade.Manifests:
		w.manifests = s.Version
	case upgrade.Contract:
		m.Contract = s.Version
	case upgrade.Delete:
		return w.delete(m, s)
	}
	return true
}

// delete deletes the server of a node, and then the node. The autoscaler makes another.
func (w *world) delete(m *machine, s upgrade.Step) bool {
	if m.Mark == nil && !m.Drained && (!m.Cordoned || !s.Evict) {
		w.violate("%s is deleted without being drained", m.Name)
	}
	for _, o := range w.machines {
		if want := w.wanted(o); !o.Autoscaled && !o.dead && (upgradepath.Newer(want.Talos, o.Talos) || upgradepath.Newer(want.Kubernetes, o.Kubelet)) {
			w.violate("%s is deleted while %s has %s and %s", m.Name, o.Name, o.Talos, o.Kubelet)
		}
	}
	if m.Mark = (&upgrade.Mark{Phase: upgrade.Deleting, Version: m.Talos}); w.befalls(4) {
		return false // killed before the call
	}
	if m.deleted = true; w.befalls(4) {
		return false
	}
	w.machines = slices.DeleteFunc(w.machines, func(o *machine) bool { return o == m })
	w.made++
	w.add(w.start, upgrade.Worker, m.Pool, fmt.Sprintf("%s-new-%d", m.Pool, w.made), true)
	made := w.machines[len(w.machines)-1]
	made.slots[0] = system{w.start.goal.Talos, now, []string{"iscsi"}}
	made.Talos, made.Schematic, made.Kubelet, made.Contract = w.start.goal.Talos, now, w.start.goal.Kubernetes, "v1.14"
	return true
}

// install is what the installer does, and what becomes of its answer.
func (w *world) install(m *machine, s upgrade.Step) bool {
	m.Before = s.Before
	m.Mark = &upgrade.Mark{Phase: upgrade.Installing, Version: s.Version, Schematic: s.Schematic, Boot: fmt.Sprint(m.boots), Run: fmt.Sprint("run ", w.run), Try: s.Try}
	if w.befalls(12) {
		return false // killed before the call
	}
	if m.installs++; m.installs > 1 {
		w.violate("I3: %s: %d installations in one boot", m.Name, m.installs)
	}
	if w.befalls(12) {
		m.Mark.Phase = upgrade.Failed
		return true
	}
	other := 1 - m.running
	want := w.wanted(m)
	m.slots[other] = system{"v" + s.Version, s.Schematic, want.Extensions}
	m.next, m.tagged = other, true
	if s.Legacy {
		w.boot(m)
		return !w.befalls(6)
	}
	if w.befalls(8) {
		m.busy = w.chance.IntN(4) // the stream is lost
		return w.befalls(2)
	}
	m.Mark.Phase = upgrade.Installed
	return true
}

func (w *world) wanted(m *machine) upgrade.Want {
	if m.Autoscaled {
		return w.want.Pools[m.Pool]
	}
	i := slices.IndexFunc(w.want.Nodes, func(o upgrade.Want) bool { return o.Name == m.Name })
	return w.want.Nodes[i]
}

// boot starts what the bootloader has, or what it had.
func (w *world) boot(m *machine) {
	if m.busy > 0 {
		w.violate("%s boots while its installer runs", m.Name)
	}
	m.boots++
	m.installs, m.backs, m.down = 0, 0, 1
	if w.faults {
		m.down += w.chance.IntN(3)
	}
	switch {
	case m.tagged && w.befalls(10): // it goes back
		m.next = m.running
	case w.befalls(25):
		m.down = -1 // it hangs
	}
	m.tagged, m.running = false, m.next
	now, minor := m.slots[m.running], versions.Minor(m.Talos)
	m.Talos, m.Schematic, m.Extensions = now.talos, now.schematic, now.extensions
	if o := w.observe(); m.Role == upgrade.ControlPlane && versions.Minor(m.Talos) != minor && o.Alike() {
		w.manifests = upgrade.Outdated // another minor has other objects
	}
}

func (w *world) configure(m *machine, s upgrade.Step) {
	if s.Component == upgrade.Kubelet {
		m.Kubelet = s.Version
		return
	}
	p := m.Programs[s.Component]
	if p.Configured = s.Version; p.Running != "" {
		p.Ready = !w.faults
		if !w.faults {
			p.Running = s.Version
		}
	}
	m.Programs[s.Component] = p
}

// before checks what must hold when a step begins.
func (w *world) before(s upgrade.Step) {
	for _, id := range s.Risks {
		if !slices.Contains(w.policy.Allow, id) {
			w.violate("I9: %s %s without consent to %s", s.Action, s.Node, id)
		}
	}
	m := w.machine(s.Node)
	if m == nil {
		return
	}
	disturbs := slices.Contains([]upgrade.Action{upgrade.Drain, upgrade.Install, upgrade.Rollback, upgrade.Transfer, upgrade.Boot, upgrade.Configure}, s.Action)
	if m.Role == upgrade.ControlPlane && disturbs && (len(w.saved) == 0 || s.Hop != "" && !w.policy.Rollback && !slices.Contains(w.saved, s.Hop)) {
		w.violate("I12: %s %s without a snapshot of this run for %s", s.Action, s.Node, s.Hop)
	}
	if s.Action == upgrade.Install {
		w.beforeInstall(m, s)
	}
}

func (w *world) beforeInstall(m *machine, s upgrade.Step) {
	if by := versions.Minor(s.Version) - versions.Minor(m.Talos); by < 0 || by > 1 {
		w.violate("%s goes from Talos %s to %s", m.Name, m.Talos, s.Version)
	}
	if supported, known := upgradepath.Supports(s.Version, m.Kubelet); known && !supported {
		w.violate("%s: Talos %s does not run a kubelet %s", m.Name, s.Version, m.Kubelet)
	}
	if !m.Drained && (!m.Cordoned || !s.Evict) {
		w.violate("%s is installed without being drained", m.Name)
	}
	if m.Role != upgrade.ControlPlane {
		return
	}
	for _, o := range w.machines {
		if o.Role == upgrade.ControlPlane {
			if floor := upgradepath.Floor(upgradepath.Etcd(o.Talos), upgradepath.Etcd(s.Version)); floor != "" {
				w.violate("R2: etcd of %s is %s, and %s gets %s", o.Name, upgradepath.Etcd(o.Talos), m.Name, upgradepath.Etcd(s.Version))
			}
		}
	}
}

// check is what must always hold.
func (w *world) check() {
	var members []etcdsafety.Member
	planes, others := []string{}, []string{}
	lowest, highest := "", ""
	for _, m := range w.machines {
		flying := m.Drained || m.Mark != nil || !m.up()
		switch {
		case m.Role == upgrade.ControlPlane:
			members = append(members, etcdsafety.Member{Node: m.Name, Voter: true, Healthy: m.up()})
			server := m.Programs[upgrade.APIServer]
			lowest, highest = upgradepath.Older(lowest, server.Running), upgradepath.Newest(highest, server.Running)
			if flying || !server.Ready {
				planes = append(planes, m.Name)
			}
		case flying && !m.dead:
			others = append(others, m.Name)
		}
	}
	if voters, healthy := etcdsafety.Count(members); voters > 2 && healthy < etcdsafety.Quorum(voters) {
		w.violate("I1: %d of %d members of etcd are healthy", healthy, voters)
	}
	if len(planes) > 1 {
		w.violate("I2: %s are disturbed at once", strings.Join(planes, ", "))
	}
	if len(others) > max(w.policy.MaxParallel, 1) {
		w.violate("I8: %s are away at once", strings.Join(others, ", "))
	}
	for _, m := range w.machines {
		if upgradepath.Newer(m.Kubelet, lowest) {
			w.violate("I5: the kubelet of %s is %s, and an API server is %s", m.Name, m.Kubelet, lowest)
		}
	}
	if versions.Minor(highest)-versions.Minor(lowest) > 1 {
		w.violate("I6: API servers run %s and %s", lowest, highest)
	}
}
