package apply

import (
	"strings"
	"testing"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/diag"
)

// Nodes that keep all of their configuration are not as Git has them, though
// there is nothing to do: a plan and a run end with another code than 0, and say
// what to do. Single values that are held are no such thing.
func TestUnsent(t *testing.T) {
	all := nodeconfig.Change{Document: "v1alpha1", Action: nodeconfig.Update, Class: nodeconfig.Upgrade, From: "sections of v1alpha1", To: "documents of Talos 1.14"}
	version := nodeconfig.Change{Document: "v1alpha1", Path: "machine.install.image", Action: nodeconfig.Update, Class: nodeconfig.Upgrade}
	disk := nodeconfig.Change{Document: "VolumeConfig/STATE", Action: nodeconfig.Update, Class: nodeconfig.Replacement}
	for name, tt := range map[string]struct {
		held []nodeplan.Held
		want string // the beginning of the error; empty: none
	}{
		"nothing":   {nil, ""},
		"values":    {[]nodeplan.Held{{Node: "a", Change: version}, {Node: "a", Change: disk}}, ""},
		"one node":  {[]nodeplan.Held{{Node: "a", Change: version}, {Node: "b", Change: all}}, "node b: nothing of what Git has is sent"},
		"all nodes": {[]nodeplan.Held{{Node: "a", Change: all}, {Node: "b", Change: all}, {Node: "c", Change: all}}, "node a and 2 more: nothing of what Git has is sent"},
	} {
		t.Run(name, func(t *testing.T) {
			p := demoPlan(nil, nil, nil)
			p.Nodes.Held = tt.held
			for what, err := range map[string]error{"plan": p.Unsent(), "run": p.remains()} {
				switch {
				case tt.want == "" && err != nil:
					t.Errorf("%s: %v", what, err)
				case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want) || diag.CodeOf(err) != diag.Differences):
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}
