package render

import (
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// node is a node of cluster.yaml, in the terms of the packages that work on it.
type node struct{ config.Node }

func (n node) ref() layer.NodeRef {
	return layer.NodeRef{Name: n.Name, Role: n.Node.Role, Pool: n.Pool}
}

func (n node) role() machine.Role { return machine.Role(n.Node.Role) }

// scope adds the variables of the node.
func (n node) scope(parent *subst.Scope) *subst.Scope {
	vars := subst.Vars{
		"NODE_ROLE": {Value: n.Node.Role},
		"NODE_POOL": {Value: n.Pool},
	}
	if !n.Autoscaled {
		vars["NODE_NAME"] = subst.Var{Value: n.Name}
	}
	if n.Index > 0 {
		vars["NODE_INDEX"] = subst.Var{Value: strconv.Itoa(n.Index)}
	}
	switch {
	case n.Address.IsValid():
		vars["NODE_ADDRESS"] = subst.Var{Value: n.Address.Addr().String()}
	case n.PrivateIP.IsValid():
		vars["NODE_ADDRESS"] = subst.Var{Value: n.PrivateIP.String()}
	}
	return &subst.Scope{Parent: parent, Vars: vars}
}

// settings are the inputs of the generated base of a node.
func (c *compiler) settings(n node) (machine.Settings, error) {
	cfg := c.config
	image, err := c.installImage()
	return machine.Settings{
		ClusterName:       cfg.ClusterName,
		Endpoint:          c.infra.KubernetesAPI.Endpoint,
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

// platforms are the names of the Image Factory's platforms.
var platforms = map[string]string{schemas.Hetzner: "hcloud", schemas.Static: "metal"}

func (c *compiler) installImage() (string, error) {
	talos := c.config.Talos
	return machine.InstallImage(talos.ImageFactory, platforms[c.config.Provider], c.schematic.ID, talos.Version)
}

// sharedOptions are the options that all nodes of a pool have in common. Static
// nodes have links of their own, and add to the labels of their pool.
func (c *compiler) sharedOptions(n node) (machine.NodeOptions, error) {
	o, err := machine.NodeOptions{}, error(nil)
	if c.config.Provider == schemas.Hetzner {
		o = c.kubernetesOptions(n)
		o.Links, err = c.serverLinks(n.Node.Role)
	}
	o.Talos = c.talosOptions(n.Node.Role)
	o.Kubernetes = c.kubernetes(n.role())
	return o, err
}

// nodeOptions are the options of one node.
func (c *compiler) nodeOptions(n node) machine.NodeOptions {
	o := machine.NodeOptions{}
	if c.config.Provider == schemas.Static {
		o = c.kubernetesOptions(n)
		if link := c.staticLink(n); link != nil {
			o.Links = []machine.Link{*link}
		}
	}
	name := n.Pos("name")
	if name.Line == 0 {
		name = n.Pos()
	}
	if !n.Autoscaled {
		o.Hostname = machine.Option{Value: n.Name, Pos: name}
	}
	return o
}

func (c *compiler) kubernetesOptions(n node) machine.NodeOptions {
	o := machine.NodeOptions{
		Labels:      optionMap(n, "labels", n.Labels),
		Annotations: optionMap(n, "annotations", n.Annotations),
	}
	for _, t := range n.Taints {
		o.Taints = append(o.Taints, machine.NodeTaint{Key: t.Key, Value: t.Value, Effect: t.Effect, Pos: t.Pos})
	}
	for i, cidr := range c.config.Network.NodeCidrs {
		o.NodeCIDRs = append(o.NodeCIDRs, machine.Option{Value: cidr, Pos: c.config.Pos("network", "nodeCidrs", strconv.Itoa(i))})
	}
	return o
}

func optionMap(n node, key string, values map[string]string) machine.OptionMap {
	m := machine.OptionMap{}
	for k, v := range values {
		m[k] = machine.Option{Value: v, Pos: n.Pos(key, k)}
	}
	return m
}

// checkVersions compares versions that belong together. Which Kubernetes a Talos
// runs that is newer than all known ones, nobody can tell but where it begins.
func (p *plan) checkVersions() *diag.Problem {
	if versions.Newer(p.config.Talos.Version) && versions.Minor(p.config.Kubernetes.Version) > versions.Newest().Newest {
		return nil
	}
	if err := machine.CheckKubernetes(p.config.Kubernetes.Version, p.config.Talos.ConfigContract); err != nil {
		return diag.New(p.config.Pos("kubernetes", "version"), "Talos %s does not run this Kubernetes: %v", p.config.Talos.ConfigContract, err)
	}
	return nil
}
