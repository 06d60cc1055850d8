package apply

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/schemas"
)

// versionSkew refuses servers that would boot another minor of Talos than the control
// planes run: an image has Git's version, and a node that joins must not be ahead
// of those that it joins. Its etcd could be of a minor that they cannot live with.
func versionSkew(p *Plan, i schemas.Infrastructure) (refusals []plan.Note) {
	if p.Nodes == nil || p.Nodes.Upgrade == nil || p.Nodes.Upgrade.Talos == nil {
		return nil
	}
	m := p.Nodes.Upgrade.Talos
	if m.Oldest == "" || upgradepath.SameMinor(m.Oldest, m.To) {
		return nil
	}
	nodes := nodeNames(i)
	for _, c := range p.Changes {
		if c.Kind != cloudplan.KindServer || c.Action != cloudplan.Create && c.Action != cloudplan.Replace || !slices.Contains(nodes, c.Name) {
			continue
		}
		refusals = append(refusals, plan.Note{Key: c.Key,
			Text: fmt.Sprintf("it would boot Talos v%s, and the control planes run v%s", m.To, m.Oldest),
			Hint: fmt.Sprintf("upgrade the cluster first (docs/how-to/upgrade.md); or set TALOS_VERSION to v%s until then, and render", m.Oldest)})
	}
	return refusals
}
