package talossim

import (
	"cmp"
	"fmt"
	"time"

	"github.com/talosgen/talosgen/internal/versions"
)

// The programs of Kubernetes that a machine runs, as their images are called. A control
// plane runs the others as static pods.
const (
	apiServer = "kube-apiserver"
	kubelet   = "kubelet"
)

var staticPods = []string{apiServer, "kube-controller-manager", "kube-scheduler"}

// soon is when a change is noticed that no image tells.
func (m *Machine) soon() time.Duration { return m.fleet.timing.Notice }

// Program is a program of Kubernetes on a machine.
type Program struct {
	Image string
	Ready bool
}

// Version is the version that runs, such as v1.37.1; empty if the tag names none.
func (p Program) Version() string { return versionOf(p.Image) }

// Programs are those that run on the machine, by the names of their images: kubelet and,
// on a control plane whose etcd serves, its static pods.
func (m *Machine) Programs() map[string]Program {
	all := map[string]Program{}
	m.fleet.probe(func() {
		if m.active == nil || !m.up() || !m.services {
			return
		}
		all[kubelet] = m.program(kubelet)
		if m.controlPlane() && m.votes() {
			for _, name := range staticPods {
				all[name] = m.program(name)
			}
		}
	})
	return all
}

// program is what runs of a program: what is configured, unless it is on its way there.
func (m *Machine) program(name string) Program {
	p, changing := m.changing[name]
	if !changing {
		p = Program{m.active.image(name), true}
	}
	p.Ready = p.Ready && !m.crashes[p.Version()]
	return p
}

// follow lets programs become what a new configuration says, as machined and the kubelet
// do: a little later the old one is stopped, and the new one takes its time to start.
func (m *Machine) follow(old *config) {
	names := []string{kubelet}
	if m.controlPlane() {
		names = append(names, staticPods...)
	}
	for _, name := range names {
		if was, now := old.image(name), m.active.image(name); was != now {
			m.restart(name, cmp.Or(m.changing[name].Image, was), now, m.fleet.timing.Notice)
		}
	}
}

// restart replaces a program. A kubelet says which version it is when it has started, and
// the image of a static pod is known at once.
func (m *Machine) restart(name, was, now string, in time.Duration) {
	if m.changing == nil {
		m.changing = map[string]Program{}
	}
	m.changing[name] = Program{was, true}
	current := func() bool { return m.active.image(name) == now }
	m.after(in, func() {
		if !current() {
			return
		}
		m.changing[name] = Program{now, false}
		if name == kubelet {
			m.changing[name] = Program{was, false}
		}
		m.judgeSkew()
		m.judgeRestart(name)
		m.report(name)
	})
	m.after(in, func() { m.arrive(name, now) })
}

// report lets a node say, a while after it is so, whether a static pod is ready.
func (m *Machine) report(name string) {
	if m.fleet.timing.Report == 0 || name == kubelet {
		return
	}
	ready := m.program(name).Ready
	m.after(m.fleet.timing.Report, func() {
		if m.pending == nil {
			m.pending = map[string]bool{}
		}
		m.pending[name] = !ready
	})
}

// arrive lets a program run that was started, as soon as it does not end at once.
func (m *Machine) arrive(name, now string) {

	m.after(m.fleet.timing.Pods, func() {
		switch {
		case m.active.image(name) != now:
		case m.crashes[versionOf(now)]:
			m.arrive(name, now)
		default:
			delete(m.changing, name)
			m.judgeSkew()
			m.report(name)
		}
	})
}

// Crash lets programs of a version of Kubernetes end as soon as they start, until Mend.
func (m *Machine) Crash(version string) {
	m.fleet.change(byItself, func() { m.crashes = map[string]bool{version: true} })
}

// judgeSkew notes versions that Kubernetes does not support beside each other: kubelets
// newer than an API server, and API servers more than a minor apart.
func (m *Machine) judgeSkew() {
	lowest, highest := 0, 0
	for _, o := range m.fleet.machines {
		if o.active == nil || o.active.cluster() != m.active.cluster() || !o.controlPlane() {
			continue
		}
		minor := versions.Minor(o.program(apiServer).Version())
		if minor > 0 && (lowest == 0 || minor < lowest) {
			lowest = minor
		}
		highest = max(highest, minor)
	}
	if highest-lowest > 1 {
		m.fleet.violate("%s: API servers of 1.%d and 1.%d", m.spec.Name, lowest, highest)
	}
	if own := m.program(kubelet).Version(); lowest > 0 && versions.Minor(own) > lowest {
		m.fleet.violate("%s: a kubelet %s beside an API server of 1.%d", m.spec.Name, own, lowest)
	}
}

// judgeRestart notes programs of two control planes that are away at once.
func (m *Machine) judgeRestart(name string) {
	for _, o := range m.fleet.machines {
		if name == kubelet || o == m || o.active == nil || o.active.cluster() != m.active.cluster() {
			continue
		}
		for other, p := range o.changing {
			if other != kubelet && !p.Ready {
				m.fleet.violate("%s: %s restarts, and so does %s of %s", m.spec.Name, name, other, o.spec.Name)
			}
		}
	}
}

// unreadable is what a Talos says of documents that it does not know.
func (m *Machine) unreadable(c *config) error {
	for _, d := range c.documents {
		if kind, _ := d["kind"].(string); m.old() && newKinds[kind] {
			return fmt.Errorf("error decoding document v1alpha1/%s/ (line 1): %q %q: not registered", kind, kind, "v1alpha1")
		}
	}
	return nil
}

// newKinds are documents of Kubernetes that came with Talos 1.14, as far as machines
// understand them.
var newKinds = map[string]bool{
	"KubeletConfig": true, "KubeNodeConfig": true, "KubeClusterConfig": true, "KubeAPIServerConfig": true, "KubeAPIServerCAConfig": true,
	"KubeControllerManagerConfig": true, "KubeSchedulerConfig": true, "KubeProxyConfig": true, "KubeTalosAPIAccessConfig": true,
}
