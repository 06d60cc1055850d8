package apply

import (
	"fmt"
	"slices"
	"strings"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// otherVersion are the nodes that run a version of a program where Git has another.
type otherVersion struct {
	program, runs, want string
	nodes               []string
}

func (v otherVersion) String() string {
	text := fmt.Sprintf("%s %s, Git has %s", v.program, v.runs, v.want)
	if len(v.nodes) == 1 {
		return fmt.Sprintf("node %s runs %s (docs/how-to/upgrade.md)", v.nodes[0], text)
	}
	return fmt.Sprintf("%d nodes run %s: %s (docs/how-to/upgrade.md)", len(v.nodes), text, some(v.nodes))
}

// Programs whose versions nodes report.
const (
	talosProgram      = "Talos"
	kubernetesProgram = "Kubernetes"
)

// versions says which nodes run another version than Git has: one of all that
// differ in the same way.
func (s *Status) versions() (all []otherVersion) {
	note := func(program, runs, want, node string) {
		if runs == "" || want == "" || runs == want {
			return
		}
		i := slices.IndexFunc(all, func(v otherVersion) bool { return v.program == program && v.runs == runs && v.want == want })
		if i < 0 {
			all = append(all, otherVersion{program: program, runs: runs, want: want})
			i = len(all) - 1
		}
		all[i].nodes = append(all[i].nodes, node)
	}
	for _, n := range s.Nodes {
		if n.Registered {
			note(talosProgram, n.Talos, n.WantTalos, n.Name)
			note(kubernetesProgram, n.Kubelet, n.Want, n.Name)
		}
	}
	return all
}

// beside are the differences but those of versions that an upgrade, which may be
// nil, tells of.
func (s *Status) beside(u *nodeplan.Upgrade) []string {
	reported := map[string]bool{}
	for _, v := range s.versions() {
		reported[v.String()] = u != nil && (v.program == talosProgram && u.Talos != nil || v.program == kubernetesProgram && u.Kubernetes != nil)
	}
	return slices.DeleteFunc(slices.Clone(s.Differences), func(text string) bool { return reported[text] })
}

// some are the first names of many.
func some(names []string) string {
	const shown = 3
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
