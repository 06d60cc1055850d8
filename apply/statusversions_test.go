package apply

import (
	"fmt"
	"slices"
	"testing"
	"time"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
)

// TestStatusVersions: nodes that differ from Git in the same way share a line;
// versions that nobody has said are no difference.
func TestStatusVersions(t *testing.T) {
	node := func(name, talos, kubelet string) NodeStatus {
		return NodeStatus{Name: name, Wanted: true, Registered: true, Ready: true, Talos: talos, WantTalos: "v1.14.1", Kubelet: kubelet, Want: "v1.37.0"}
	}
	var many []NodeStatus
	for i := range 7 {
		many = append(many, node(fmt.Sprintf("w-%d", i+1), "v1.14.1", "v1.36.3"))
	}
	for name, c := range map[string]struct {
		nodes []NodeStatus
		want  []string
	}{
		"same":    {[]NodeStatus{node("a", "v1.14.1", "v1.37.0")}, nil},
		"unknown": {[]NodeStatus{node("a", "", "")}, nil},
		"one": {[]NodeStatus{node("a", "v1.13.9", "v1.37.0"), node("b", "v1.14.1", "v1.37.0")},
			[]string{"node a runs Talos v1.13.9, Git has v1.14.1 (docs/how-to/upgrade.md)"}},
		"mixed": {[]NodeStatus{node("a", "v1.13.9", "v1.36.3"), node("b", "v1.13.9", "v1.37.0"), node("c", "v1.13.8", "v1.37.0")}, []string{
			"2 nodes run Talos v1.13.9, Git has v1.14.1: a, b (docs/how-to/upgrade.md)",
			"node a runs Kubernetes v1.36.3, Git has v1.37.0 (docs/how-to/upgrade.md)",
			"node c runs Talos v1.13.8, Git has v1.14.1 (docs/how-to/upgrade.md)"}},
		"many": {many, []string{"7 nodes run Kubernetes v1.36.3, Git has v1.37.0: w-1, w-2, w-3 and 4 more (docs/how-to/upgrade.md)"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Status{Nodes: c.nodes, Objects: &kubeplan.Plan{}}
			s.differences(time.Time{}, nil)
			if !slices.Equal(s.Differences, c.want) {
				t.Errorf("%q, expected %q", s.Differences, c.want)
			}
		})
	}
}
