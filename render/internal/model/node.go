package model

import (
	"strconv"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// Node is a node of cluster.yaml, in the terms of the packages that work on it.
type Node struct {
	config.Node

	// Schematic is that of its image.
	Schematic machine.Schematic
}

// Ref returns what decides which patches apply to the node.
func (n Node) Ref() layer.NodeRef {
	return layer.NodeRef{Name: n.Name, Role: n.Role, Pool: n.Pool}
}

// MachineRole returns the role that the node's machine configuration has.
func (n Node) MachineRole() machine.Role { return machine.Role(n.Role) }

// Scope returns the variables of the node: those of its environment, and its own.
func (n Node) Scope(parent *subst.Scope) *subst.Scope {
	vars := subst.Vars{
		"NODE_ROLE": {Value: n.Role},
		"NODE_POOL": {Value: n.Pool},
	}
	if !n.Autoscaled {
		vars["NODE_NAME"] = subst.Var{Value: n.Name}
	}
	if n.Index > 0 {
		vars["NODE_INDEX"] = subst.Var{Value: strconv.Itoa(n.Index)}
	}
	switch {
	case n.Address.IsValid() && !n.Dedicated:
		vars["NODE_ADDRESS"] = subst.Var{Value: n.Address.Addr().String()}
	case n.PrivateIP.IsValid():
		vars["NODE_ADDRESS"] = subst.Var{Value: n.PrivateIP.String()}
	}
	return &subst.Scope{Parent: parent, Vars: vars}
}

// File names the file of the node in the rendered tree. What stands for the
// servers that the autoscaler makes is no node.
func (n Node) File() string {
	if n.Autoscaled {
		return AutoscaledFile(n.Name)
	}
	return NodeFile(n.Name)
}

// NodeFile names the file of a node in the rendered tree.
func NodeFile(name string) string { return "nodes/" + name + ".yaml" }

// AutoscaledFile names the file of a group of servers in the rendered tree.
func AutoscaledFile(group string) string { return "autoscaler/" + group + ".yaml" }
