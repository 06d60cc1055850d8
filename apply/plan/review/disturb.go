package review

import (
	"fmt"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/etcdsafety"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/schemas"
)

// disturbs prints what operators and their users notice of the run.
func (w *writer) disturbs() {
	for i, text := range w.disturbances() {
		if i == 0 {
			w.Blank()
			w.Line(0, "disturbs:")
		}
		w.Line(2, "%s", text)
	}
}

// disturbed are the nodes of each kind that are disturbed, and how often.
type disturbed struct {
	controlPlanes, workers     map[string]int // stop, for a reboot or a power-off
	restarted, joined, removed int            // control planes
	leaving                    int
}

func (w *writer) disturbances() (texts []string) {
	if w.Nodes == nil {
		return nil
	}
	d := w.disturbed()
	voters := w.Nodes.Voters
	if n := len(d.controlPlanes); n > 0 {
		texts = append(texts, natural.Count(n, "control plane node")+verb(n, " stops", " stop")+oneAtATime(n, 1)+twice(d.controlPlanes)+": "+stops(voters))
	}
	if d.restarted > 0 {
		texts = append(texts, "components restart on "+natural.Count(d.restarted, "control plane node")+oneAtATime(d.restarted, 1)+once(voters))
	}
	if d.joined+d.removed > 0 && voters > 0 {
		after := voters + d.joined - d.removed
		texts = append(texts, fmt.Sprintf("etcd: %s before, %d after; it survives the loss of %d", natural.Count(voters, "member"), after, after-etcdsafety.Quorum(after)))
	}
	if n := len(d.workers); n > 0 {
		texts = append(texts, natural.Count(n, "worker")+verb(n, " stops", " stop")+oneAtATime(n, w.AtOnce)+twice(d.workers)+": pods move to other nodes before")
	}
	texts = append(texts, w.disturbedAnew()...)
	if d.leaving > 0 {
		texts = append(texts, natural.Count(d.leaving, "node")+verb(d.leaving, " leaves", " leave")+" for good: pods move to other nodes before, and what is on local disks is lost")
	}
	return texts
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// twice says that nodes stop more than once: Hetzner powers them off, and then their
// configuration needs a reboot.
func twice(nodes map[string]int) string {
	for _, n := range nodes {
		if n > 1 {
			return ", some of them twice"
		}
	}
	return ""
}

// stops says what it means that a control plane stops for a boot.
func stops(voters int) string {
	switch voters {
	case 0:
		return "whether etcd goes on is not known"
	case 1:
		return "no Kubernetes API and no etcd meanwhile; pods go on"
	case 2:
		return "etcd has no quorum meanwhile, so the Kubernetes API changes nothing; pods go on"
	}
	return fmt.Sprintf("etcd keeps its quorum, with %d of %d members", voters-1, voters)
}

// once adds what it means if there is one control plane only.
func once(voters int) string {
	if voters == 1 {
		return "; the Kubernetes API may be unavailable for moments"
	}
	return ""
}

func (w *writer) disturbed() disturbed {
	d := disturbed{controlPlanes: map[string]int{}, workers: map[string]int{}}
	for _, r := range w.Nodes.Rows(every) {
		d.row(r)
	}
	if w.Cloud == nil {
		return d
	}
	for _, c := range w.Cloud.Changes {
		switch {
		case c.Class != cloudplan.PowerOff || !w.node(&c):
		case w.controlPlane(&c):
			d.controlPlanes[c.Name]++
		default:
			d.workers[c.Name]++
		}
	}
	return d
}

func (d *disturbed) row(r nodeplan.Row) {
	n, controlPlane := len(r.Nodes), r.Role == nodeplan.ControlPlane
	switch {
	case r.Removed():
		d.leaving += n
		if r.Does(nodeplan.Leave, nodeplan.RemoveMember) {
			d.removed += n
		}
	case r.Does(nodeplan.Join):
		d.joined += n
	case r.Does(nodeplan.Reboot):
		for _, name := range r.Nodes {
			if controlPlane {
				d.controlPlanes[name]++
			} else {
				d.workers[name]++
			}
		}
	case controlPlane && r.Restarts():
		d.restarted += n
	}
}

// controlPlane reports whether a change is about the server of a control plane node.
func (w *writer) controlPlane(c *cloudplan.Change) bool {
	for _, s := range w.Cloud.Desired.Servers {
		if s.Name == c.Name {
			return s.Role == schemas.RoleControlPlane
		}
	}
	return false
}
