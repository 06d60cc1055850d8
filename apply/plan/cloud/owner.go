package cloud

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// Labels by which the parts of a cluster mark what they make.
const (
	labelService   = "hcloud-ccm/service-uid" // load balancers of the cloud controller
	madeByCSI      = "csi-driver"             // managed-by of volumes of the CSI driver
	labelPVCName   = "pvc-name"
	labelPVCSpace  = "pvc-namespace"
	partCCM        = "the cloud controller"
	partCSI        = "the CSI driver"
	partAutoscaler = "the autoscaler"
)

// owner tells what belongs to a cluster.
type owner struct {
	cluster  string
	networks map[int64]bool // ids of the cluster's own networks
	groups   []string       // node groups of its autoscaler
	servers  map[int64]bool // ids of its servers, those of the autoscaler included
}

func newOwner(desired *schemas.Infrastructure, observed *Observed) owner {
	o := owner{cluster: desired.Cluster, networks: map[int64]bool{}, servers: map[int64]bool{}}
	for _, n := range observed.Networks {
		o.networks[n.ID] = o.owns(n.Labels)
	}
	for _, p := range desired.AutoscalerPools {
		o.groups = append(o.groups, p.Group)
	}
	for _, s := range observed.Servers {
		if o.owns(s.Labels) || o.made(s) {
			o.servers[s.ID] = true
		}
	}
	return o
}

// owns reports whether an object is the cluster's own, and not one that lives
// only as long as a run, or was made by a part of the cluster.
func (o owner) owns(labels map[string]string) bool {
	return o.marked(labels) && !transient(labels) && labels[schemas.LabelNodeGroup] == ""
}

// marked reports whether an object has the labels of the cluster.
func (o owner) marked(labels map[string]string) bool { return schemas.OwnedBy(o.cluster, labels) }

// transient reports whether an object belongs to a run of talosgen.
func transient(labels map[string]string) bool {
	return slices.Contains([]string{schemas.ComponentLock, schemas.ComponentSession, schemas.ComponentBuilder},
		labels[schemas.LabelComponent])
}

// made reports whether the autoscaler of the cluster made a server. The name of
// its group is not enough: the group of another cluster may begin like it.
func (o owner) made(s Server) bool {
	group := s.Labels[schemas.LabelNodeGroup]
	if group == "" {
		return false
	}
	return slices.Contains(o.groups, group) || s.Labels[schemas.LabelCluster] == o.cluster || o.attached(s.PrivateNets)
}

// attached reports whether something is in the cluster's own network.
func (o owner) attached(nets []PrivateNet) bool {
	return slices.ContainsFunc(nets, func(n PrivateNet) bool { return o.networks[n.Network] })
}

// madeBalancer reports whether the cloud controller of the cluster made a load
// balancer: it is in the cluster's network, or leads to its servers.
func (o owner) madeBalancer(b LoadBalancer) bool {
	if b.Labels[labelService] == "" || o.marked(b.Labels) {
		return false
	}
	return o.attached(b.PrivateNets) ||
		slices.ContainsFunc(b.Targets, func(t Target) bool { return t.Server != 0 && o.servers[t.Server] })
}

// madeVolume reports whether the CSI driver of the cluster made a volume.
func (o owner) madeVolume(v Volume) bool {
	if v.Labels[schemas.LabelManagedBy] != madeByCSI {
		return false
	}
	return v.Labels[schemas.LabelCluster] == o.cluster || o.servers[v.Server]
}

// claim names the claim that a volume was made for: namespace/name.
func (v Volume) claim() string {
	return strings.Trim(v.Labels[labelPVCSpace]+"/"+v.Labels[labelPVCName], "/")
}
