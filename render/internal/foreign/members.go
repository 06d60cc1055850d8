package foreign

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
)

// listNames are the variables in which people list machines of a role.
var listNames = map[string][]string{
	"controlplane": {"CONTROL_PLANES", "CONTROLPLANES", "CONTROL_PLANE_NODES", "CONTROLPLANE_NODES", "CP_NODES"},
	"worker":       {"WORKERS", "WORKER_NODES"},
}

// findMachines finds the machines: those with patches of their own, those that
// cluster.env lists, and those that are named by hand.
func (l *layered) findMachines() error {
	var problems diag.List
	for _, role := range []string{"controlplane", "worker"} {
		for _, name := range listNames[role] {
			for _, item := range strings.FieldsFunc(l.vars[name].Value, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
				node, address, _ := strings.Cut(strings.Replace(item, "=", ":", 1), ":")
				l.join(member{nodeName(node), role, addressText(address)})
			}
		}
	}
	for _, n := range l.Nodes {
		role := roleOf(n.File)
		if role == "" {
			problems.Add(diag.On(n.Name+"="+n.File, "is neither NAME=controlplane nor NAME=worker").WithCode(diag.Usage))
		}
		l.join(member{nodeName(n.Name), role, n.Address})
	}
	for _, p := range l.patches {
		if p.layer == nodesLayer {
			role := p.role
			if role == "" {
				role = roleOf(strings.TrimRight(p.node, "-0123456789"))
			}
			l.join(member{p.node, role, ""})
		}
	}
	for _, m := range l.members {
		if m.role == "" {
			problems.Add(diag.New(diag.Pos{File: l.fileOf(m)}, "machine %s: nothing says whether it is a control plane or a worker", m.name).
				WithHint("name it: --node %s=controlplane or --node %s=worker", m.name, m.name))
		}
	}
	if len(l.members) == 0 && len(problems) == 0 {
		problems.Add(diag.New(diag.Pos{File: l.dirs[0]}, "names no machines").
			WithHint("name each: --node NAME=controlplane or --node NAME=worker, with @ADDRESS if you like;\nor list them in cluster.env: CONTROL_PLANES=\"cp-1 cp-2 cp-3\" and WORKERS=\"worker-1\"").WithCode(diag.Usage))
	}
	sorting.By(l.members, func(a, b member) int { return strings.Compare(a.role+" "+a.name, b.role+" "+b.name) })
	l.note("control planes: %s; workers: %s; the names are those of files and folders, of lists in cluster.env, and of --node", l.named("controlplane"), l.named("worker"))
	return problems.Err()
}

// named are the names of the machines of a role.
func (l *layered) named(role string) string {
	var names []string
	for _, m := range l.members {
		if m.role == role {
			names = append(names, m.name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// join adds a machine, or to a machine what was not known of it.
func (l *layered) join(m member) {
	at := slices.IndexFunc(l.members, func(o member) bool { return o.name == m.name })
	if at < 0 {
		l.members = append(l.members, m)
		return
	}
	if o := &l.members[at]; o.role == "" {
		o.role = m.role
	}
	if o := &l.members[at]; o.address == "" {
		o.address = m.address
	}
}

func addressText(text string) string {
	if ip, err := netip.ParseAddr(text); err == nil {
		return ip.String()
	}
	return ""
}
