package render

import (
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/schemas"
)

// nameOptions gives values that Talos generated from options of cluster.yaml
// the place of the option: the line is what a user can change.
func (c *compiler) nameOptions(n node, traced []machine.Traced) error {
	settings, err := c.settings(n)
	if err != nil {
		return err
	}
	follows, err := machine.Follows(settings, n.role(), c.secrets.bundle)
	if err != nil {
		return err
	}
	for i := range traced {
		t := &traced[i]
		// A value that Talos generated is always the lowest.
		if len(t.Origins) == 0 || t.Origins[0].Layer != machine.GeneratedLayer {
			continue
		}
		if setting := follows(t.Document, t.Leaf.Path); setting != "" {
			index := t.Leaf.Path[len(t.Leaf.Path)-1].Index
			t.Origins[0].Layer, t.Origins[0].Pos = machine.OptionsLayer, c.settingPos(n, setting, index)
		}
	}
	return nil
}

// settingPos is the place of the option that decides a setting, or of the item
// of its list; without a line if that is a default.
func (c *compiler) settingPos(n node, setting machine.Setting, index int) diag.Pos {
	switch setting {
	case machine.SettingClusterName:
		return c.config.Pos("clusterName")
	case machine.SettingEndpoint:
		return c.endpointPos()
	case machine.SettingKubernetesVersion:
		return c.config.Pos("kubernetes", "version")
	case machine.SettingPodSubnets:
		return c.firstPos(item("network.podCidrs", index), "network.podCidrs", "network.cidr")
	case machine.SettingServiceSubnets:
		return c.firstPos(item("network.serviceCidrs", index), "network.serviceCidrs", "network.cidr")
	case machine.SettingDNSDomain:
		return c.config.Pos("network", "dnsDomain")
	case machine.SettingInstallDisk:
		return n.Pos("installDisk")
	case machine.SettingInstallImage:
		return c.config.Pos("talos", "version")
	case machine.SettingAllowScheduling:
		return c.firstPos("nodes.controlPlane.allowScheduling", "nodes.workers")
	}
	panic("no option for the setting " + strconv.Quote(string(setting)))
}

// endpointPos is the place of what the endpoint is, or follows from.
func (c *compiler) endpointPos() diag.Pos {
	if c.config.Provider == schemas.Hetzner && c.config.Hetzner.APILoadBalancer.Enabled {
		return c.firstPos("endpoint", "hetzner.apiLoadBalancer.enabled")
	}
	return c.firstPos("endpoint", "nodes.controlPlane.vip", "nodes.controlPlane.privateVip", "nodes.controlPlane")
}
