package apply

import (
	"strings"
	"testing"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// TestInstallJudge: on which nodes Talos may be installed, by what is known of them.
func TestInstallJudge(t *testing.T) {
	up := []nodeplan.Member{{Node: "n-1"}}
	node := func(n nodeplan.Node) nodeplan.Observed {
		n.Name = "n-2"
		return nodeplan.Observed{Nodes: []nodeplan.Node{n}, Known: true, Members: up}
	}
	alone := func(r nodeplan.Reach) nodeplan.Observed {
		return nodeplan.Observed{Nodes: []nodeplan.Node{{Name: "n-2", Reach: r}}}
	}
	for _, tt := range []struct {
		name     string
		observed nodeplan.Observed
		recorded bool
		allowed  bool
		waits    bool
		refusal  string
	}{
		{"it answers with its certificate", node(nodeplan.Node{Reach: nodeplan.Configured}), true, true, false, "it is a node of the cluster"},
		{"Kubernetes knows it", node(nodeplan.Node{Reach: nodeplan.Unreachable, Registered: true}), false, true, false, "Kubernetes knows it as a node"},
		{"Kubernetes knows it, and it waits", node(nodeplan.Node{Reach: nodeplan.Maintenance, Registered: true}), false, true, false, "Kubernetes knows it as a node"},
		{"a member of etcd", nodeplan.Observed{Members: []nodeplan.Member{{Node: "n-2"}}, Known: true}, false, true, false, "etcd has it as a member"},
		{"Kubernetes does not say", nodeplan.Observed{Silent: "no answer", Known: true, Members: up}, false, true, false, "is not known: no answer"},
		{"it waits", node(nodeplan.Node{Reach: nodeplan.Maintenance}), false, false, true, ""},
		{"its disk is not fit", node(nodeplan.Node{Reach: nodeplan.Unfit}), false, false, false, ""},
		{"not proven", node(nodeplan.Node{Reach: nodeplan.Unproven}), true, false, false, ""},
		{"away, and the cluster says that it is no node", node(nodeplan.Node{Reach: nodeplan.Unreachable}), true, false, false, ""},
		{"away, recorded, and nobody says", alone(nodeplan.Unreachable), true, false, false, "it was configured before"},
		{"the same, allowed", alone(nodeplan.Unreachable), true, true, false, ""},
		{"away, never configured, and nobody says", alone(nodeplan.Unreachable), false, false, false, ""},
		{"not observed", nodeplan.Observed{}, false, false, false, ""},
	} {
		s := installState{name: "n-2", env: "home", observed: tt.observed, recorded: tt.recorded, allowed: tt.allowed}
		waits, refusal, hint := s.judge()
		if waits != tt.waits || (refusal != "") != (tt.refusal != "") || !strings.Contains(refusal, tt.refusal) || (refusal != "") != (hint != "") {
			t.Errorf("%s: waits %v, refused %q (%s)", tt.name, waits, refusal, hint)
		}
	}
}
