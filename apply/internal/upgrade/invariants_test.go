package upgrade_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/versions"
)

// invariants are those of the reference, I1 to I14, as they are seen from outside. The
// fleet holds I1, I3 and I4 itself, at each change that a call makes.
type invariants struct {
	*world
	configs    map[string]string // I14: as the machines had them
	extensions map[string][]string
	etcd       map[string]int // the minor of Talos that control planes had
	snapshots  int            // before this run
	broken     []string
	bare       map[string]string // configurations without versions, by what they are made of
}

// hold watches the invariants from now on, at each call to a machine and at each change
// in Kubernetes.
func hold(w *world) *invariants {
	i := &invariants{world: w, configs: map[string]string{}, extensions: map[string][]string{}, etcd: map[string]int{}, bare: map[string]string{}}
	for _, m := range w.fleet.Machines() {
		running, _ := m.Systems()
		i.configs[m.Name()], i.extensions[m.Name()] = m.Config(), extensionsOf[running.Schematic]
		i.etcd[m.Name()] = versions.Minor(running.Talos)
	}
	w.called = i.called
	w.kube.judged = i.now
	return i
}

// called is told of each call.
func (i *invariants) called(c talossim.Call) {
	i.kube.mu.Lock()
	defer i.kube.mu.Unlock()
	if (c.Method == "Reboot" || c.Method == "Rollback" || c.Method == "ApplyConfiguration") && role(c.Machine) == upgradeplan.ControlPlane {
		i.snapshot(c.Method + " of " + c.Machine)
	}
	i.now()
}

func (i *invariants) violate(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(i.broken, text) {
		i.broken = append(i.broken, text)
	}
}

// snapshot is I12.
func (i *invariants) snapshot(what string) {
	if i.saved == i.snapshots {
		i.violate("I12: %s without a snapshot of this run", what)
	}
}

// now is what holds at any time. The nodes of Kubernetes are locked.
func (i *invariants) now() {
	away := map[string][]string{}
	for _, m := range i.fleet.Machines() {
		n := i.kube.nodes[m.Name()]
		if _, known := i.configs[m.Name()]; !known { // the autoscaler has made it since
			i.configs[m.Name()] = m.Config()
		}
		if stage := m.Stage(); n.Drained || n.Upgrade != "" || stage == "rebooting" || stage == "upgrading" || i.restarts(m) {
			away[role(m.Name())] = append(away[role(m.Name())], m.Name())
		}
		if config := m.Config(); config != "" && i.configs[m.Name()] != "" && i.versionless(config) != i.versionless(i.configs[m.Name()]) {
			i.violate("I14: the configuration of %s is another one", m.Name())
		}
		running, _ := m.Systems()
		was := i.etcd[m.Name()]
		if new := versions.Minor(running.Talos); role(m.Name()) == upgradeplan.ControlPlane && new == 14 && was < 14 && !slices.Contains(i.up.Policy.Allow, upgradeplan.RiskNoReturn) {
			i.violate("I9: %s has an etcd that does not come back, without consent", m.Name())
		}
		if i.kubernetes == nil && n.Drained && n.Kubelet != "v1.35.4" { // else the fleet holds it
			i.violate("I5: the kubelet of %s is %s", m.Name(), n.Kubelet)
		}
		for _, e := range i.extensions[m.Name()] {
			if !slices.Contains(extensionsOf[running.Schematic], e) {
				i.violate("I13: %s has lost the extension %s", m.Name(), e)
			}
		}
	}
	if planes := away[upgradeplan.ControlPlane]; len(planes) > 1 {
		i.violate("I2: %v are disturbed at once", planes)
	}
	if workers := away[upgradeplan.Worker]; len(workers) > max(i.up.Policy.MaxParallel, 1) {
		i.violate("I8: %v are away at once", workers)
	}
}

// imageOfVersion is the image of a program of Kubernetes in a configuration.
var imageOfVersion = regexp.MustCompile(`(registry\.example\.com/[a-z-]+):v[0-9.]+`)

// versionless is a configuration without the versions of Kubernetes, which an upgrade of
// it changes.
func (i *invariants) versionless(config string) string {
	text, known := i.bare[config]
	if !known {
		text = imageOfVersion.ReplaceAllString(config, "$1")
		i.bare[config] = text
	}
	return text
}

// restarts reports whether a program of the control plane is on its way to another
// version.
func (i *invariants) restarts(m *talossim.Machine) bool {
	for name, p := range m.Programs() {
		if i.kubernetes != nil && name != "kubelet" && !p.Ready {
			return true
		}
	}
	return false
}

// ended is what holds when a run has ended by itself.
func (i *invariants) ended(err error) {
	for _, m := range i.fleet.Machines() { // I11
		n := i.kube.nodes[m.Name()]
		if n.Drained && m.Stage() == "running" && (err == nil || !strings.Contains(err.Error(), "node "+m.Name()+": ")) {
			i.violate("I11: %s stays cordoned, and nothing is said of it: %v", m.Name(), err)
		}
	}
}

// all are the violations so far.
func (i *invariants) all() []string {
	return slices.Concat(i.fleet.Violations(), i.kube.violations, i.broken)
}
