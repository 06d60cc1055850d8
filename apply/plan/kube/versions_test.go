package kube

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
)

// TestBoots: what servers are made from later waits while it is ahead of the control
// planes, be it there or not; what is as in Git, older, or not known does not.
func TestBoots(t *testing.T) {
	git, old := managed(configTwo, entry(ManagerTalosgen, "Apply", dataX)), managed(config, entry(ManagerTalosgen, "Apply", dataX))
	running := Versions{Talos: "v1.13.9", Kubernetes: "v1.36.3"}
	for name, c := range map[string]struct {
		boots, running Versions
		live           string
		action         Action
		reason         string
	}{
		"same":                  {running, running, old, Change, ""},
		"newer Kubernetes":      {Versions{"v1.13.9", "v1.37.0"}, running, old, Blocked, "new servers would run Kubernetes v1.37.0 before the control planes do"},
		"newer patch":           {Versions{"v1.13.9", "v1.36.4"}, running, old, Blocked, "v1.36.4"},
		"newer Talos":           {Versions{"v1.14.1", "v1.36.3"}, running, old, Blocked, "new servers would run Talos v1.14.1"},
		"not there":             {Versions{"v1.14.1", "v1.36.3"}, running, "", Blocked, "Talos v1.14.1"},
		"as in Git":             {Versions{"v1.14.1", "v1.37.0"}, running, git, Unchanged, ""},
		"older":                 {Versions{"v1.12.11", "v1.35.4"}, running, old, Change, ""},
		"no servers":            {Versions{}, Versions{}, old, Change, ""},
		"nobody runs":           {Versions{"v1.14.1", "v1.37.0"}, Versions{}, "", Create, ""},
		"only Kubernetes known": {Versions{"v1.14.1", "v1.36.3"}, Versions{Kubernetes: "v1.36.3"}, old, Change, ""},
	} {
		t.Run(name, func(t *testing.T) {
			item := Item{Object: object(t, configTwo), Boots: c.boots}
			o := Observed{API: true, Running: c.running, Served: map[string]bool{Served(item.Object): true},
				Namespaces: map[string]bool{item.ID().Namespace: false}, Objects: map[ID]Object{}, Trials: map[ID]DryRun{}}
			if c.live != "" {
				live := object(t, c.live)
				o.Objects[live.ID()], o.Inventory = live, []ID{live.ID()}
				o.Trials[live.ID()] = DryRun{Result: object(t, git)}
			}
			p := Make(Desired{Items: []Item{item}}, o, plan.Consent{})
			if s := p.Steps[0]; s.Action != c.action || !strings.Contains(s.Reason, c.reason) {
				t.Errorf("%s: %s, expected %s: %s", s.Action, s.Reason, c.action, c.reason)
			}
			if c.action == Blocked && (p.InSync() || len(p.Changes()) > 0) {
				t.Errorf("it is in sync, or changes something: %s", p)
			}
		})
	}
}
