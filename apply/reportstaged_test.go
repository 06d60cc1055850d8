package apply

import (
	"strings"
	"testing"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// TestStaged: what waits for a boot is told, and not what this run has rebooted.
func TestStaged(t *testing.T) {
	step := func(a nodeplan.Action, node string) nodeplan.Step { return nodeplan.Step{Action: a, Node: node} }
	for _, c := range []struct {
		steps []nodeplan.Step
		want  string
	}{
		{nil, ""},
		{[]nodeplan.Step{step(nodeplan.Configure, "a")}, ""},
		{[]nodeplan.Step{step(nodeplan.Stage, "a-10"), step(nodeplan.Stage, "a-9")}, "a-9 a-10"},
		{[]nodeplan.Step{step(nodeplan.Stage, "a"), step(nodeplan.Reboot, "a")}, ""},
		{[]nodeplan.Step{step(nodeplan.Stage, "a"), step(nodeplan.Stage, "b"), step(nodeplan.Reboot, "a")}, "b"},
		{[]nodeplan.Step{step(nodeplan.Reboot, "a"), step(nodeplan.Stage, "a")}, "a"},
	} {
		if got := strings.Join((&Report{Steps: c.steps}).staged(), " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.steps, got, c.want)
		}
	}
}
