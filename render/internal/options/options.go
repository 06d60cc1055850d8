// Package options turns a model into what machine configurations are made from: the
// settings of their generated base, and the options of cluster.yaml, each with the
// place that sets it. It is pure.
package options

import (
	"strconv"

	"github.com/talosgen/talosgen/render/internal/infra"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/schemas"
)

// OfPool returns the options that all nodes of a pool have in common, for one of
// them. Static nodes and dedicated servers have links of their own, and add to the labels
// of their pool.
func OfPool(m *model.Model, n model.Node) (machine.NodeOptions, error) {
	at := places{m.Config}
	o, err := machine.NodeOptions{}, error(nil)
	if m.Config.Provider == schemas.Hetzner && !n.Dedicated {
		o = at.ofKubernetesNode(n)
		o.Volumes = volumes(n)
		o.Links, err = servers{places: at, env: m.Env, scope: m.Scope, facts: m.Facts}.links(n.Role)
	}
	sans := certSANs(m)
	o.Talos = talos{places: at, scope: m.Scope}.of(n.Role, sans)
	o.Kubernetes = kubernetes{at}.of(n.MachineRole(), sans)
	return o, err
}

// OfNode returns the options of one node, beside those of its pool.
func OfNode(m *model.Model, n model.Node) machine.NodeOptions {
	at, o := places{m.Config}, machine.NodeOptions{}
	switch {
	case n.Dedicated:
		o = ofDedicated(m, n)
	case m.Config.Provider == schemas.Static:
		o = at.ofKubernetesNode(n)
		if link := at.staticLink(n); link != nil {
			o.Links = []machine.Link{*link}
		}
	}
	name := n.Pos("name")
	if given := n.Pos("names", strconv.Itoa(n.Index)); given.Line != 0 {
		name = given
	}
	if name.Line == 0 {
		name = n.Pos()
	}
	if !n.Autoscaled {
		o.Hostname = machine.Option{Value: n.Name, Pos: name}
	}
	return o
}

// ofKubernetesNode are the options of a node as an object of Kubernetes.
func (c places) ofKubernetesNode(n model.Node) machine.NodeOptions {
	o := machine.NodeOptions{
		Labels:      optionMap(n, "labels", n.Labels),
		Annotations: optionMap(n, "annotations", n.Annotations),
	}
	o.Disk = c.diskSelector(n)
	for _, t := range n.Taints {
		o.Taints = append(o.Taints, machine.NodeTaint{Key: t.Key, Value: t.Value, Effect: t.Effect, Pos: t.Pos})
	}
	for i, cidr := range c.config.Network.NodeCidrs {
		o.NodeCIDRs = append(o.NodeCIDRs, c.said(cidr, &c.config.Network.NodeCidrs, strconv.Itoa(i)))
	}
	return o
}

func optionMap(n model.Node, key string, values map[string]string) machine.OptionMap {
	m := machine.OptionMap{}
	for k, v := range values {
		m[k] = machine.Option{Value: v, Pos: n.Pos(key, k)}
	}
	return m
}

// certSANs are the names and addresses that the certificates of the Kubernetes
// and the Talos API have to hold, that of the endpoint first, each with the place
// that it comes from.
func certSANs(m *model.Model) []machine.Option {
	var all []machine.Option
	for _, san := range infra.CertSANs(m.Config, m.Facts, m.Infra.KubernetesAPI) {
		all = append(all, machine.Option{Value: san.Value, Pos: san.Pos})
	}
	return all
}
