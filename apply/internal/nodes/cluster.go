package nodes

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/schemas"
)

// Machine is a machine that is a node of the cluster, or is to be.
type Machine struct {
	Name string
	Role string // in the words of the package plan/nodes
	// Whether the tree has it. Others are the cluster's by their labels.
	InTree bool
	// The group of the autoscaler that made it; empty: something else did. It comes and
	// goes by itself, and is never made a node here.
	Group string
	// Whether it is made in this run: a plan takes it as one without a
	// configuration.
	New bool
	// What tells it from one that has its name before or after it, such as the
	// id of a server; empty if only the machine itself knows.
	ID string
	// Where it is with its configuration, and before, where that differs. Empty:
	// it is not known, for what reason.
	Address, BootAddress string
	Unknown              string
	// What the cloud says of its server, if that does not run, such as off; empty: it
	// runs, or nobody can say.
	Server string
	// Counts the calls that it is asked; may be nil.
	Calls *atomic.Int64
	// Whether it is only read.
	ReadOnly bool

	// Of machines that exist already: how to recognise it. Exists says that it is one, also
	// beside servers that runs make.
	Match  schemas.InfraMatch
	Exists bool

	// What the operator has said of it by its name.
	Consent newonce.Consent
}

// Kubernetes is the API of Kubernetes, as far as nodes are concerned. Before
// there is a control plane no node is registered, and nothing is to be drained.
type Kubernetes interface {
	// Registered are the nodes that Kubernetes knows.
	Registered(ctx context.Context) ([]kube.Node, error)
	// Drain cordons a node, and waits until its pods have left. A node that goes
	// for good takes along what nothing makes anew. tell is told what is waited
	// for.
	Drain(ctx context.Context, node string, forGood bool, notify func(string)) error
	// Uncordon lets pods in again.
	Uncordon(ctx context.Context, node string) error
	// DeleteNode removes a node; one that is not there is no error.
	DeleteNode(ctx context.Context, node string) error
	// RewriteSecrets ends when every Secret is stored with the key that API servers
	// encrypt with now. tell is told how many there are.
	RewriteSecrets(ctx context.Context, notify func(string)) error
}

// Health keeps watch over a run that disturbs nodes.
type Health interface {
	// Before waits until the cluster may be disturbed.
	Before(ctx context.Context) error
	// After waits until a node that was disturbed is well again.
	After(ctx context.Context, node string) error
}

// Intents is where it is recorded which node is to be bootstrapped; see the
// package bootstrap.
type Intents interface {
	Intent(ctx context.Context) (bootstrap.Intent, error)
	Record(ctx context.Context, intent bootstrap.Intent) error
}

// Recovery is a snapshot that a lost etcd is made anew from.
type Recovery interface {
	// ID tells it from other snapshots.
	ID(ctx context.Context) (string, error)
	// Upload brings it to the node on which etcd is made. It fails if what it
	// brought is another one than that of the ID.
	Upload(ctx context.Context, to *node.Client) error
}

// Snapshot saves etcd, asking one of its members, and returns where.
type Snapshot func(ctx context.Context, from *node.Client) (where string, err error)

// Patience says how long things may take.
type Patience struct {
	Every   time.Duration // between looks
	Install time.Duration // a new node, from its configuration until it serves
	Reboot  time.Duration
	Join    time.Duration // a new member of etcd, until it votes
	Leave   time.Duration // a member of etcd, until its peers say that it is gone
	Etcd    time.Duration // until a bootstrapped etcd serves, or can do without a member
	Settle  time.Duration // nodes that are in motion when a run begins
	Notice  time.Duration // until a node says that static pods restart, which are to be others
	Certify time.Duration // until a node shows another certificate
}

// slowest is how many times as long the pause between looks gets, while nothing comes
// of them.
const slowest = 5

// of is the patience for one thing.
func (p Patience) of(within time.Duration) node.Patience {
	return node.Patience{Every: p.Every, Most: slowest * p.Every, Within: within}
}

// DefaultPatience suffices for virtual machines, and for metal that tests its
// memory.
func DefaultPatience() Patience {
	return Patience{
		Every: 2 * time.Second, Install: 15 * time.Minute, Reboot: 15 * time.Minute, Join: 10 * time.Minute,
		Leave: 2 * time.Minute, Etcd: 10 * time.Minute, Settle: 5 * time.Minute, Notice: 45 * time.Second, Certify: 2 * time.Minute,
	}
}

// Cluster is a cluster and how its nodes are reached.
type Cluster struct {
	Name     string
	Machines []Machine
	Through  reach.Transport
	// Refused is why nobody is let in to the nodes; nil: that is not the reason if there
	// is no way to them.
	Refused error
	// Clients are those that were connected before, and may be used again by who
	// goes the same way.
	Clients *Clients
	// Credentials are those of an administrator, valid for some time.
	Credentials func() (node.Credentials, error)
	Clock       node.Clock
	Patience    Patience
	RebootMode  node.RebootMode

	// Which machines were ever configured; nil: nobody knows of any.
	Records   Records
	Intents   Intents
	Forgetful bool // the intents do not outlast the run, and no lock keeps others out
	// Of a run that forgets: what no other run has, without spaces. Empty: it is
	// alone.
	Run        string
	Kubernetes Kubernetes
	// RegisteredNow asks Kubernetes for its nodes once, without asking again; nil: as
	// Kubernetes does.
	RegisteredNow func(ctx context.Context) ([]kube.Node, error)
	Health        Health
	Snapshot      Snapshot
	Disks         InstallDisks // nil: what is on disks is not looked at
	// What a lost etcd is made anew from; nil: what is made is empty.
	Recovery Recovery
	// Keep fails if this run must not change anything any more, because it has
	// lost the lock. It is asked before each call that changes something, and
	// while something is waited for.
	Keep func(context.Context) error
	// Notify is told, by step, what is waited for; nothing, when the wait is over and
	// was no step. May be nil.
	Notify func(step, text string)

	met      map[string]bool // nodes that were reached: they are awaited
	proven   map[string]bool // those that have shown a certificate of the cluster
	bare     map[string]bool // those that were in maintenance mode in the last look
	admitted admitted
	kube     kubeAnswer
	making   transition
}

// machine returns the machine of a name.
func (c *Cluster) machine(name string) (Machine, bool) {
	for _, m := range c.Machines {
		if m.Name == name {
			return m, true
		}
	}
	return Machine{}, false
}

// controlPlane reports whether a machine is one.
func (m Machine) controlPlane() bool { return m.Role == nodeplan.ControlPlane }

// boot is where a machine is before it has its configuration.
func (m Machine) boot() node.Target {
	if m.BootAddress != "" {
		return node.Target{Name: m.Name, Address: m.BootAddress, Calls: m.Calls, ReadOnly: m.ReadOnly}
	}
	return m.target()
}

// target is where a machine is with its configuration.
func (m Machine) target() node.Target {
	return node.Target{Name: m.Name, Address: m.Address, Calls: m.Calls, ReadOnly: m.ReadOnly}
}

// Connect returns the client for a node with its configuration. It stays that of
// [Cluster.Clients], which closes it.
func (c *Cluster) Connect(m Machine) (*node.Client, error) {
	credentials, err := c.Credentials()
	if err != nil {
		return nil, err
	}
	return c.Clients.client(m.target(), c.Through, credentials, c.Clock.Now)
}

func (c *Cluster) notify(step, text string) {
	if c.Notify != nil {
		c.Notify(step, text)
	}
}
