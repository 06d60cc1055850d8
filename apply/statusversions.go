package apply

import (
	"fmt"
	"strings"
)

// versions says which nodes run another version than Git has: one line for all that
// differ in the same way.
func (s *Status) versions(add func(format string, args ...any)) {
	nodes := map[string][]string{}
	var texts []string
	note := func(what, runs, want, node string) {
		if runs == "" || want == "" || runs == want {
			return
		}
		text := fmt.Sprintf("%s %s, Git has %s", what, runs, want)
		if nodes[text] == nil {
			texts = append(texts, text)
		}
		nodes[text] = append(nodes[text], node)
	}
	for _, n := range s.Nodes {
		if n.Registered {
			note("Talos", n.Talos, n.WantTalos, n.Name)
			note("Kubernetes", n.Kubelet, n.Want, n.Name)
		}
	}
	for _, text := range texts {
		if of := nodes[text]; len(of) == 1 {
			add("node %s runs %s (docs/how-to/upgrade.md)", of[0], text)
		} else {
			add("%d nodes run %s: %s (docs/how-to/upgrade.md)", len(of), text, some(of))
		}
	}
}

// some are the first names of many.
func some(names []string) string {
	const shown = 3
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
