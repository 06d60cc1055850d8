package nodes

import (
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// Roles of nodes, in the words of the labels of servers.
const (
	ControlPlane = "control-plane"
	Worker       = "worker"
)

// Desired is what the rendered tree says of nodes.
type Desired struct {
	Cluster string
	Nodes   []Want
}

// Want is a node of the tree, or one that the autoscaler made from it.
type Want struct {
	Name   string
	Role   string
	Config *nodeconfig.Config
	// Whether the autoscaler made it: it comes and goes by itself, and only settings
	// reach it.
	Autoscaled bool
}

// Reach says how a node is reached.
type Reach string

// The ways.
const (
	Unreachable Reach = "unreachable" // not at all, or it does not answer; the zero value is the same
	Foreign     Reach = "foreign"     // it answers, but not as a node of this cluster
	Unproven    Reach = "unproven"    // it is not new, and who answers has not proven to be it
	Maintenance Reach = "maintenance" // it has no configuration yet
	Unfit       Reach = "unfit"       // the same, and Talos must not be installed on its disk
	Configured  Reach = "configured"  // by its certificate
)

// UnfitHint says what to do about a machine that is [Unfit].
const UnfitHint = "correct installDisk in cluster.yaml; or, if nothing on the disk is needed any more: talosctl wipe disk --insecure"

// UnprovenHint says what to do about a machine that is [Unproven]; the key of the
// node follows.
const UnprovenHint = "it was reset by hand, or has another disk; or another machine has its address; or an attacker is in the way: " +
	"see its console, and if it is to be configured again: --allow "

// Bare reports whether it is a machine without a configuration.
func (r Reach) Bare() bool { return r == Maintenance || r == Unfit }

// StageRunning is Talos' stage of a machine that has finished its start.
const StageRunning = "running"

// Node is a node as it was seen: every one that the tree has, and every other
// that has the labels of the cluster or is registered in its Kubernetes.
type Node struct {
	Name   string `json:"name"`
	Role   string `json:"role"`
	Reach  Reach  `json:"reach"`
	Reason string `json:"-"` // why it is unreachable, foreign, unproven or unfit
	// Of a node in maintenance mode: why it is taken for a new one.
	Proof newonce.Proof `json:"-"`
	// Of a configured node: Talos' stage, the boot, and the version of the
	// resource that is its configuration, which grows with each change.
	Stage         string `json:"stage"`
	BootID        string `json:"bootId"`
	ConfigVersion string `json:"configVersion"`
	// The configuration itself.
	Config *nodeconfig.Config `json:"-"`
	// Of a node that is not reached: what others say of it.
	KubeReport KubeReport `json:"-"`
	// The version of Talos that it runs, as it says, or as Kubernetes does; empty if
	// neither has said.
	Talos string `json:"-"`
	// Whether Kubernetes knows the node, and says that it is ready.
	Registered bool `json:"registered"`
	Ready      bool `json:"-"`
	// Whether a run of talosgen has drained it, and has not let pods in since.
	Drained bool `json:"drained"`
	// Whether a run has noted that it upgrades the node, and has not come to its end.
	Upgrading bool `json:"-"`
}

// Member is an etcd member, as a majority of its peers says.
type Member struct {
	ID      string `json:"id"`
	Node    string `json:"node"`
	Learner bool   `json:"learner"`
	Healthy bool   `json:"healthy"`
}

// Observed is what was seen.
type Observed struct {
	Nodes []Node
	// The members of etcd; Known says that they could be asked for: then none
	// means that there is no etcd.
	Members []Member
	Known   bool
	// Whether etcd serves, and it is not recorded that it was bootstrapped.
	Unrecorded bool
	// Why Kubernetes does not say which nodes it knows; empty: it does, or there
	// is none yet.
	Silent string
	// The versions that the cluster runs.
	Running nodeconfig.Running
	// What makes nodes by itself; the zero value: nothing does, or it was not looked at,
	// because no rotation is under way.
	Autoscaler Autoscaler
}

func (o *Observed) node(name string) Node {
	for _, n := range o.Nodes {
		if n.Name == name {
			return n
		}
	}
	return Node{Name: name, Reach: Unreachable, Reason: "it was not found"}
}

// Safe are the members as rules of safety see them: what we do not reach is not
// healthy, whatever its peers say.
func (o *Observed) Safe() (members []etcdsafety.Member) {
	for _, m := range o.Members {
		n := o.node(m.Node)
		members = append(members, etcdsafety.Member{Node: m.Node, Voter: !m.Learner,
			Healthy: m.Healthy && n.Reach == Configured && n.Stage == StageRunning})
	}
	return members
}

// digests stand for what was seen.
func (o *Observed) digests() []plan.Digest {
	digests := []plan.Digest{{Key: "etcd/members", Digest: plan.DigestOf(o.Members)}}
	for _, n := range o.Nodes {
		digests = append(digests, plan.Digest{Key: plan.Key("node/" + n.Name), Digest: plan.DigestOf(n)})
	}
	return digests
}
