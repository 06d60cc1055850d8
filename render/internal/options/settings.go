package options

import (
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/schemas"
)

// Settings returns the inputs of the generated base of a node.
func Settings(m *model.Model, n model.Node) (machine.Settings, error) {
	cfg := m.Config
	image, err := installImage(m, n)
	return machine.Settings{
		ClusterName:       cfg.ClusterName,
		Endpoint:          m.Infra.KubernetesAPI.Endpoint,
		Contract:          cfg.Talos.ConfigContract,
		KubernetesVersion: cfg.Kubernetes.Version,
		PodSubnets:        cfg.Network.PodCidrs,
		ServiceSubnets:    cfg.Network.ServiceCidrs,
		DNSDomain:         cfg.Network.DNSDomain,
		InstallDisk:       n.InstallDisk,
		InstallImage:      image,
		AllowScheduling:   cfg.AllowScheduling(),
	}, err
}

func installImage(m *model.Model, n model.Node) (string, error) {
	talos := m.Config.Talos
	return machine.InstallImage(machine.Image{
		Factory: talos.ImageFactory, Platform: n.Platform, Schematic: n.Schematic.ID, Version: talos.Version, SecureBoot: n.SecureBoot,
	})
}

// SettingPos returns the place of the option that decides a setting of a node, or
// of the item of its list; without a line if that is a default.
func SettingPos(m *model.Model, n model.Node, setting machine.Setting, index int) diag.Pos {
	c := places{m.Config}
	cluster := &m.Config.Cluster
	switch setting {
	case machine.SettingClusterName:
		return c.config.At(&cluster.ClusterName)
	case machine.SettingEndpoint:
		return c.endpointPos()
	case machine.SettingKubernetesVersion:
		return c.config.At(&cluster.Kubernetes.Version)
	case machine.SettingPodSubnets:
		return c.itemPos(&cluster.Network.PodCidrs, index, &cluster.Network.CIDR)
	case machine.SettingServiceSubnets:
		return c.itemPos(&cluster.Network.ServiceCidrs, index, &cluster.Network.CIDR)
	case machine.SettingDNSDomain:
		return c.config.At(&cluster.Network.DNSDomain)
	case machine.SettingInstallDisk:
		return n.Pos("installDisk")
	case machine.SettingInstallImage:
		return c.config.At(&cluster.Talos.Version)
	case machine.SettingAllowScheduling:
		return c.firstPos(&cluster.Nodes.ControlPlane.AllowScheduling, &cluster.Nodes.Workers)
	}
	panic("no option for the setting " + strconv.Quote(string(setting)))
}

// endpointPos is the place of what the endpoint is, or follows from.
func (c places) endpointPos() diag.Pos {
	endpoint, balancer, cp := &c.config.Endpoint, &c.config.Hetzner.APILoadBalancer.Enabled, &c.config.Cluster.Nodes.ControlPlane
	if c.config.Provider == schemas.Hetzner && *balancer {
		return c.firstPos(endpoint, balancer)
	}
	return c.firstPos(endpoint, &cp.VIP, &cp.PrivateVIP, cp)
}
