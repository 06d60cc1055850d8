package watch

import "time"

// State is what a look says of a node.
type State string

// The states.
const (
	// Alive: its Talos answers.
	Alive State = "alive"
	// Dead: its server is gone or off, or its Talos does not answer; and Kubernetes does
	// not say that it is ready.
	Dead State = "dead"
	// Missing: it has no server, and Kubernetes does not know it. Whether it was lost, or
	// never made, only those say who have seen it.
	Missing State = "missing"
	// Bare: its machine is new, and waits for a configuration.
	Bare State = "bare"
	// Unreached: its Talos does not answer, and Kubernetes says that it is ready. It is the
	// way to it that is closed.
	Unreached State = "unreached"
	// Unknown: nobody says enough.
	Unknown State = "unknown"
)

// Node is a node of the tree, as a look has found it.
type Node struct {
	Name         string
	ControlPlane bool
	// The id of its server, and since when that exists; 0 if there is none.
	Machine int64
	Created time.Time
	State   State
	// Why it is not alive, for people.
	Why string
}

// Observation is what a look at a cluster has found.
type Observation struct {
	At time.Time
	// Why nothing may be changed; empty: something may.
	Unsafe []string
	// Why no node may be made anew, although the infrastructure may be changed.
	Busy []string
	// The worker that a watch began to replace, as is noted at the cluster; empty: none, or
	// it came to the end of that.
	Replacing string
	// All nodes of the tree.
	Nodes []Node
	// The objects that changes would mend which disturb nothing, by their keys.
	Drift []string
	// Those among them that are routes, which lead to a gateway that is ill.
	Moves []string
	// What else is to be done, and is left to people, a line each.
	Left []string
	// Whether machines can be made anew: those that exist already cannot.
	Servers bool
}

// Spares says why a worker must not be replaced that an earlier look has found dead, with
// a machine; empty: it is dead still. It is asked when nobody else can change it.
func (l Observation) Spares(name string, machine int64) string {
	for _, n := range l.Nodes {
		switch {
		case n.Name != name:
		case n.ControlPlane:
			return "it is a control plane node"
		case n.Machine != machine && n.Machine != 0:
			return "it has another server by now"
		case n.State != Dead && n.State != Missing:
			return "it is " + string(n.State) + " by now"
		case len(l.Unsafe) > 0:
			return l.Unsafe[0]
		case len(l.Busy) > 0:
			return l.Busy[0]
		default:
			return ""
		}
	}
	return "the tree does not have it"
}
