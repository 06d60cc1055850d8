package infra

import (
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// Labels by which talosgen knows what is its own.
const (
	labelCluster   = schemas.LabelCluster
	labelRole      = schemas.LabelRole
	labelPool      = schemas.LabelPool
	labelComponent = schemas.LabelComponent
	labelManagedBy = schemas.LabelManagedBy

	managedBy = schemas.ManagedBy
)

// labels returns the labels of an object of the cluster, with others added as
// pairs of key and value.
func (in *Input) labels(pairs ...string) map[string]string {
	l := map[string]string{labelCluster: in.Cluster, labelManagedBy: managedBy}
	for i := 0; i+1 < len(pairs); i += 2 {
		l[pairs[i]] = pairs[i+1]
	}
	return l
}

// selector matches objects of the cluster with these labels too.
func (in *Input) selector(pairs ...string) string {
	all := map[string]string{labelCluster: in.Cluster}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return selector(all)
}

func selector(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+"="+labels[key])
	}
	return strings.Join(parts, ",")
}

// name makes the name of an object of the cluster.
func (in *Input) name(parts ...string) string {
	return strings.Join(append([]string{in.Cluster}, parts...), "-")
}
