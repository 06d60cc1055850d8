package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/kube"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/apply/rehearsal"
)

// notedSystems gives nodes what runs have noted in Kubernetes of the systems that
// bootloaders have beside the one that runs: Talos itself does not tell.
func notedSystems(ctx context.Context, c *kube.Client, nodes []rehearsal.Node) error {
	registered, err := c.Nodes(ctx)
	if err != nil {
		return err
	}
	for i := range nodes {
		n := &nodes[i]
		if at := slices.IndexFunc(registered, func(k kube.Node) bool { return k.Name == n.Name }); at >= 0 {
			noted(n, registered[at].Upgrade, registered[at].Before)
		}
	}
	return nil
}

// noted gives a node the other system of its bootloader, and whether the next boot takes
// it. An installer that was begun in this boot is taken to end well, as it does without
// its client. What cannot be read the run refuses, on simulators too.
func noted(n *rehearsal.Node, upgrade, before string) {
	of := func(s upgradeplan.System) rehearsal.System {
		return rehearsal.System{Talos: "v" + s.Version, Schematic: s.Schematic}
	}
	if b, err := upgradeplan.ParseBefore(before); err == nil {
		if n.Other = of(b.From); upgradeplan.Same(n.Talos, b.From.Version) && n.Schematic == b.From.Schematic {
			n.Other = of(b.To)
		}
	}
	m, err := upgradeplan.ParseMark(upgrade)
	begun := []upgradeplan.MarkPhase{upgradeplan.Installing, upgradeplan.Installed, upgradeplan.Returning}
	if err == nil && n.Boot != "" && m.Boot == n.Boot && slices.Contains(begun, m.Phase) {
		n.Other, n.BootsOther = of(upgradeplan.System{Version: m.Version, Schematic: m.Schematic}), true
	}
}
