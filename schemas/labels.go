package schemas

// Labels of the objects of a cluster on Hetzner. An object belongs to a cluster
// by its labels alone: [LabelCluster] with the cluster's name, and
// [LabelManagedBy] with [ManagedBy].
const (
	LabelCluster   = "cluster"
	LabelRole      = "role"      // of a server: what it is
	LabelPool      = "nodepool"  // the pool that a server, or what leads to it, belongs to
	LabelComponent = "component" // of other objects: what they are for
	LabelManagedBy = "managed-by"

	ManagedBy = "talosgen"

	// LabelNodeGroup is the label of servers that the cluster autoscaler made:
	// the name of the cluster, a hyphen, and the pool.
	LabelNodeGroup = "hcloud/node-group"
)

// Roles of servers and machines.
const (
	RoleControlPlane = "controlplane"
	RoleWorker       = "worker"
	RoleNATGateway   = "nat-gateway"
)

// OtherControlPlane is how terraform-hcloud-kubernetes and hcloud-talos write
// [RoleControlPlane] in labels.
const OtherControlPlane = "control-plane"

// RoleOf is the role of a server by its labels, however these write it; empty if they do
// not say.
func RoleOf(labels map[string]string) string {
	if role := labels[LabelRole]; role != OtherControlPlane {
		return role
	}
	return RoleControlPlane
}

// OwnedBy reports whether labels are those of what talosgen has made for a cluster.
func OwnedBy(cluster string, labels map[string]string) bool {
	return labels[LabelCluster] == cluster && labels[LabelManagedBy] == ManagedBy
}

// What apply keeps on objects for itself. Labels with this prefix are never
// desired and never drift.
const (
	LabelPrefix = "talosgen.dev/"

	// LabelUserData says what a server was made with: a digest of the user data
	// and SSH keys in infrastructure.yaml, which Hetzner does not tell again.
	LabelUserData = LabelPrefix + "user-data"
	// LabelOff says that a run has switched a server off for a change, of which
	// fields, and has not switched it on again since.
	LabelOff = LabelPrefix + "off"

	// LabelConfigured says of the server of a node whether it was ever configured:
	// [ConfiguredNo] since it was made, then the fingerprint of the key that it
	// showed when its configuration was about to be sent to it, then
	// [ConfiguredYes].
	LabelConfigured = LabelPrefix + "configured"

	// LabelAdopted says of an object that it was made without talosgen, and taken over.
	LabelAdopted = LabelPrefix + "adopted"
	// AdoptedYes is its value.
	AdoptedYes = "yes"
)

// Values of [LabelConfigured].
const (
	ConfiguredNo  = "no"
	ConfiguredYes = "yes"
)

// Components of objects that live only as long as a run of talosgen, or a
// little longer after a crash. They are neither drift nor part of a plan;
// later runs and destroy collect them.
const (
	ComponentLock    = "apply-lock"
	ComponentSession = "session"
	ComponentBuilder = "image-builder"
)
