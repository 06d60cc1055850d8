package infra

import (
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/render/internal/config"
)

// Labels by which talosgen knows what is its own.
const (
	labelCluster   = "cluster"
	labelRole      = "role"
	labelPool      = "nodepool"
	labelComponent = "component"
	labelManagedBy = "managed-by"

	managedBy = "talosgen"
)

// labelGroup is the label that the autoscaler gives the servers that it makes.
const labelGroup = "hcloud/node-group"

// labels returns the labels of an object of the cluster, with others added as
// pairs of key and value.
func (r *resolver) labels(pairs ...string) map[string]string {
	l := map[string]string{labelCluster: r.c.ClusterName, labelManagedBy: managedBy}
	for i := 0; i+1 < len(pairs); i += 2 {
		l[pairs[i]] = pairs[i+1]
	}
	return l
}

// selector matches objects of the cluster with these labels too.
func (r *resolver) selector(pairs ...string) string {
	all := map[string]string{labelCluster: r.c.ClusterName}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return selector(all)
}

// nodeSelector matches the servers that are nodes.
func (r *resolver) nodeSelector() string {
	return r.selector() + "," + labelRole + " in (" + r.roleLabel(config.ControlPlane) + "," + config.Worker + ")"
}

// roleLabel is how labels write a role.
func (r *resolver) roleLabel(role string) string {
	if role == config.ControlPlane {
		return r.c.Hetzner.Adopted.RoleLabel
	}
	return role
}

func selector(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+"="+labels[key])
	}
	return strings.Join(parts, ",")
}

// name makes the name of an object of the cluster.
func (r *resolver) name(parts ...string) string {
	return strings.Join(append([]string{r.c.ClusterName}, parts...), "-")
}
