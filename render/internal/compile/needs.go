package compile

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/needs"
	"github.com/talosgen/talosgen/schemas"
)

// unmetNeeds adds what addons need of a node and its configuration does not give.
func (c *Compiler) unmetNeeds(said *report, cfg *machine.Config) error {
	all := slices.DeleteFunc(slices.Clone(c.in.Needs), func(n needs.Needs) bool { return n.Unmet == schemas.IgnoreUnmet })
	if len(all) == 0 {
		return nil
	}
	m, err := c.machineOf(said.node, cfg)
	if err != nil {
		return err
	}
	for _, n := range all {
		for _, u := range n.Of(m) {
			how := u.How
			if u.Applicable && n.Unmet != schemas.ApplyUnmet {
				how += "\nor have it added: addons." + n.Addon + ".needs.unmet: apply"
			}
			pos := c.model.Config.Near("addons." + n.Addon + ".needs." + u.Key)
			if !c.model.Config.Has("addons." + n.Addon) {
				pos = c.model.Config.Near(n.Option)
			}
			said.found.add(said.node.Name, finding{
				text: fmt.Sprintf("addon %s needs %s", n.Addon, u.What), hint: how, warning: u.Unknown || n.Unmet == schemas.WarnUnmet, pos: pos,
			})
		}
	}
	return nil
}

// machineOf is a node as needs are compared with.
func (c *Compiler) machineOf(n model.Node, cfg *machine.Config) (needs.Machine, error) {
	talos := c.model.Config.Talos
	m := needs.Machine{
		ControlPlane: n.Role == config.ControlPlane, Pool: n.Pool, Labels: n.Labels,
		Tainted: n.Role == config.ControlPlane && !c.model.Config.AllowScheduling(),
		Talos:   talos.Version, Contract: talos.ConfigContract, Extensions: n.Image().Extensions, Schematic: n.Image().Schematic,
	}
	for _, t := range n.Taints {
		m.Tainted = m.Tainted || t.Effect != "PreferNoSchedule"
	}
	for _, d := range cfg.Documents() {
		leaves, err := d.Leaves()
		if err != nil {
			return m, err
		}
		doc := needs.Document{Kind: d.ID.Kind, Name: d.ID.Name, Leaves: leaves}
		if d.ID.IsMain() {
			doc.Kind = ""
		}
		m.Documents = append(m.Documents, doc)
	}
	return m, nil
}
