package apply

import (
	"slices"
	"testing"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// An upgrade waits for nodes that are to join, and for nothing that only changes a
// configuration.
func TestDrift(t *testing.T) {
	sysctl := []nodeconfig.Change{{Document: "v1alpha1", Path: "machine.sysctls.a", Action: nodeconfig.Update}}
	got := driftOf(&nodeplan.Plan{Steps: []nodeplan.Step{
		{Action: nodeplan.Health, Node: nodeplan.WholeCluster}, {Action: nodeplan.Configure, Node: "cp-1", Changes: sysctl},
		{Action: nodeplan.Drain, Node: "w-1"}, {Action: nodeplan.Stage, Node: "w-1", Changes: sysctl}, {Action: nodeplan.Reboot, Node: "w-1"},
		{Action: nodeplan.Configure, Node: "cp-2"}, {Action: nodeplan.Join, Node: "cp-2"}, {Action: nodeplan.Bootstrap, Node: nodeplan.Etcd},
	}})
	want := []string{"node cp-2 has no configuration yet", "node cp-2 does not vote in etcd yet", "etcd is not bootstrapped"}
	if !slices.Equal(got, want) {
		t.Errorf("drift is %q", got)
	}
}
