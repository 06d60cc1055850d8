package upgrade

import (
	"slices"

	"github.com/talosgen/talosgen/internal/etcdsafety"
	"github.com/talosgen/talosgen/internal/versions/kubeflags"
)

// StageRunning is Talos' stage of a machine that has finished its start, StageBooting of
// one that has not.
const (
	StageRunning = "running"
	StageBooting = "booting"
)

// The programs of Kubernetes that run on control plane nodes, in the order in which
// they get a new version.
const (
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Proxy             = "kube-proxy"
)

var programs = []string{APIServer, ControllerManager, Scheduler, Proxy}

// Program is a program of the control plane on one node.
type Program struct {
	// The version in the machine configuration, and the one that runs. Of
	// kube-proxy, which the configuration only describes, Running is empty.
	Configured, Running string
	Ready               bool
	// Missing says that it is to run, and that no pod of it is known.
	Missing bool
}

// settled reports whether the program runs as it is configured.
func (p Program) settled() bool {
	return !p.Missing && (p.Running == "" || Same(p.Running, p.Configured) && p.Ready)
}

// Mark is what a run has written at a node in Kubernetes before and after it called
// the installer.
type Mark struct {
	Phase MarkPhase
	// What was to be installed, and in which boot. Of a server that is deleted: what it
	// ran, and its id.
	Version, Schematic, Boot string
	// Run is the run that has written it, Try how often it was tried.
	Run string
	Try int
}

// MarkPhase is how far an installation is known to be.
type MarkPhase string

// The phases.
const (
	Installing MarkPhase = "installing" // the installer was called, or is about to be
	Installed  MarkPhase = "installed"  // it ended well
	Failed     MarkPhase = "failed"     // it ended with an error
	Returning  MarkPhase = "returning"  // the node was told to boot its other system
	Deleting   MarkPhase = "deleting"   // its server is deleted, or is about to be
)

// Node is a node as it was observed: every one of the tree, and those that the
// autoscaler made.
type Node struct {
	Name, Role, Pool string
	Autoscaled       bool
	// Registers is the name that Talos gives it in Kubernetes; empty: it does not say.
	Registers string
	// Reached says that the API of Talos answers; without it only what Kubernetes
	// says of the node is known.
	Reached bool
	// Refused is why it does not let talosgen in, and RefusedHint what to do; empty: it
	// does, or nobody answers.
	Refused, RefusedHint string
	// What it runs.
	Talos, Schematic, Kubelet, Contract string
	Extensions                          []string
	Platform                            string
	SecureBoot                          bool
	// Cramped says that the partition of the bootloader has no room for two images.
	Cramped bool
	// Invalid is why the new version would refuse its configuration; empty: it
	// would not, or nobody knows.
	Invalid string
	// Of a node whose configuration has an older contract than Git's: what the move to
	// it changes besides, and what of that a node that lives must not change.
	Moves, Unmovable []string
	// The stage of Talos, the boot, and how many seconds ago it began.
	Stage, Boot string
	Up          int
	// Busy says that an installer runs.
	Busy bool
	// Images are those that are pulled.
	Images []string
	// Ready is what Kubernetes says of the node. Cordoned says that it was cordoned
	// by somebody else, Drained that a run of talosgen has cordoned it.
	Ready, Cordoned, Drained bool
	Mark                     *Mark
	// Before is the Talos that it ran before; nil: nobody knows.
	Before *Before
	// Programs are those of a control plane node, by name.
	Programs map[string]Program
	// Sets are what its configuration starts programs with.
	Sets []kubeflags.Set
}

// inFlight reports whether a run has begun with the node, and has not finished.
func (n Node) inFlight() bool { return n.Drained || n.Mark != nil }

// closed reports whether no pods are placed on the node, by a run or by somebody else.
func (n Node) closed() bool { return n.Drained || n.Cordoned }

// healthy reports whether nothing is wrong with the node itself.
func (n Node) healthy() bool { return n.Reached && n.Stage == StageRunning && n.Ready }

// Member is a member of etcd, as a majority of its peers says.
type Member struct {
	Node             string
	Learner, Healthy bool
	Leader           bool
	// Lagging says that it is far behind the leader.
	Lagging bool
	Alarm   string
	Version string
	// Storage is the version of what it writes, which is that of the oldest member;
	// empty: it does not say.
	Storage string
}

// Budget is a PodDisruptionBudget.
type Budget struct {
	Name  string // with its namespace
	Nodes []string
	// Allowed is how many of its pods may go now. Stuck says that it is none, and
	// that this does not change by itself.
	Allowed int
	Stuck   bool
}

// Removed is a use of something that a version of Kubernetes does not have any more.
type Removed struct {
	What, Owner string
	// In is the version that has it no more.
	In string
	// Stored says that it is an object that would be lost, and not only a client.
	Stored bool
}

// Observed is what was observed.
type Observed struct {
	Nodes []Node
	// The members of etcd; Known says that they could be asked for.
	Members []Member
	Known   bool
	Budgets []Budget
	Removed []Removed
	// Bare names pods by their node that nothing makes anew, or that fit nowhere
	// else.
	Bare map[string][]string
	// Problems are what is wrong with the cluster besides its nodes and etcd.
	Problems []string
	// Drift is what apply would change, and that must be done before.
	Drift []string
	// Stale is why the autoscaler does not make servers as Git says; empty: it does, or it
	// was not asked for.
	Stale string
	// Manifests is the version of Kubernetes that the manifests of Talos were last
	// brought to; empty if it is not known.
	Manifests string
	// Run is this run. Saved are the hops for which it has a whole snapshot of etcd.
	Run   string
	Saved []string
}

func (o *Observed) node(name string) *Node {
	if i := slices.IndexFunc(o.Nodes, func(n Node) bool { return n.Name == name }); i >= 0 {
		return &o.Nodes[i]
	}
	return nil
}

func (o *Observed) member(name string) (Member, bool) {
	if i := slices.IndexFunc(o.Members, func(m Member) bool { return m.Node == name }); i >= 0 {
		return o.Members[i], true
	}
	return Member{}, false
}

// voters is how many members vote.
func (o *Observed) voters() int {
	voters, _ := etcdsafety.Count(o.safe())
	return voters
}

// safe are the members as rules of safety see them: one whose node is not reached
// is not healthy, whatever its peers say.
func (o *Observed) safe() (members []etcdsafety.Member) {
	for _, m := range o.Members {
		n := o.node(m.Node)
		members = append(members, etcdsafety.Member{Node: m.Node, Voter: !m.Learner,
			Healthy: m.Healthy && n != nil && n.Reached && n.Stage == StageRunning})
	}
	return members
}
