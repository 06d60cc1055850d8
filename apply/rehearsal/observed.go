package rehearsal

import (
	"encoding/json"
	"time"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/secret"
)

// Observed is a living cluster at a moment, as far as it decides what a run does: what
// a rehearsal begins with.
type Observed struct {
	// The environment and its cluster.
	Environment, Cluster string
	// When it was read.
	At time.Time
	// What Hetzner Cloud answers: lists by the last part of their path, items as they
	// came. Nil for machines that exist already.
	Hetzner map[string][]json.RawMessage
	Nodes   []Node
	// The members of etcd, as those that serve know them.
	Etcd []Member
	// The id of the member that leads; 0: none does. It is upgraded last.
	Leader uint64
	// The version of Kubernetes, such as v1.36.4; empty: it does not answer, or there
	// is none.
	Kubernetes string
	// The SSH host key of the server that leads to nodes, from the tree; zero: none does.
	HostKey secret.String `json:"-"`
	// All objects that it has, but for those that come and go by themselves.
	Objects []manifest.Object
	// What could not be read, or is left out, one line each.
	Unseen []string
}

// Node is a machine of a cluster.
type Node struct {
	Name, Role string
	// How it is reached, in the words of plans: configured, maintenance, unreachable.
	Reach string
	// Why it is not reached.
	Reason string
	// In Talos' words, such as running.
	Stage string
	// The version, and the id of the image's schematic.
	Talos, Schematic string
	Platform         string
	Extensions       []string
	// What the kernel calls the boot that it is in; empty: not known.
	Boot string
	// The names of the images that it has for Talos itself.
	Images []string
	// The system of its bootloader beside the one that runs, as far as runs have noted it,
	// and whether the next boot takes that.
	Other      System
	BootsOther bool
	SecureBoot bool
	// The size of the partition with its systems in bytes; 0 is not known.
	BootSize int64
	// What it runs with.
	Config secret.String `json:"-"`
	// Its member of etcd; 0: it has none.
	Member uint64
	// Of machines that exist already.
	UUID, Serial string
	MACs         []string
	Disks        []Disk
}

// System is a Talos on a disk: its version, and the id of the image's schematic.
type System struct{ Talos, Schematic string }

// Disk is a disk of a machine.
type Disk struct {
	Path, Model, Serial, WWID string
	Symlinks                  []string
	Size                      uint64
}

// Member is a member of etcd.
type Member struct {
	ID      uint64
	Name    string // empty until it has started
	Peer    string // a URL
	Learner bool
}

// Node returns the node of a name; nil if there is none.
func (o *Observed) Node(name string) *Node {
	for i := range o.Nodes {
		if o.Nodes[i].Name == name {
			return &o.Nodes[i]
		}
	}
	return nil
}

// Servers are the names of the servers at Hetzner Cloud.
func (o *Observed) Servers() (names []string) {
	for _, raw := range o.Hetzner["servers"] {
		var server struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &server) == nil {
			names = append(names, server.Name)
		}
	}
	return names
}
