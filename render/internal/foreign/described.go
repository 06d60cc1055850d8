package foreign

import (
	"cmp"

	"github.com/talosgen/talosgen/render/internal/machine"
)

// Described is what the configurations of nodes that run say of their cluster.
type Described struct {
	Cluster string
	// NodeCIDRs are the ranges that the kubelets of control planes take their addresses
	// from.
	NodeCIDRs []string
}

// Describe reads what nodes say of their cluster.
func (o *Origin) Describe() (d Described) {
	for _, m := range o.Machines {
		if m.Role != string(machine.ControlPlane) {
			continue
		}
		d.Cluster = cmp.Or(d.Cluster, Value(m.Config, machine.MainID.Kind, "cluster", "clusterName"), Value(m.Config, "KubeClusterConfig", "clusterName"))
		if len(d.NodeCIDRs) == 0 {
			d.NodeCIDRs = append(Values(m.Config, machine.MainID.Kind, "machine", "kubelet", "nodeIP", "validSubnets"),
				Values(m.Config, "KubeNodeConfig", "nodeIP", "validSubnets")...)
		}
	}
	return d
}
