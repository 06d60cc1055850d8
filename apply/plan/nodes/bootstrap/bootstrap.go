// Package bootstrap decides whether etcd is bootstrapped, and on which node:
// exactly once in the life of a cluster, whoever runs apply, and whenever.
//
// The package is pure. Whoever executes its decisions keeps to this:
//
//   - look at the intent first, then at each control plane, then decide, do one
//     thing, and begin again;
//   - hold the lock of the cluster, and let every call end before it expires; or
//     where there is none, say so ([Observation.Run]): then runs announce
//     themselves, and take turns;
//   - call Bootstrap only over a connection to the boot that was looked at
//     ([Decision.BootID]): never connect again for it;
//   - record that it is called before it is.
//
// Why that is enough: etcd is bootstrapped only after two looks in a row found
// every control plane, each in the same boot, without etcd. Data cannot vanish
// within a boot, so there was a moment between the two looks at which no etcd
// was anywhere. After it, only runs that follow the same intent call, and they
// call the same boot of the same node, one at a time: the next one not within
// [Pause], in which the first one's data appears.
package bootstrap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
)

// State is what a control plane says of its etcd.
type State string

// The states.
const (
	// Unknown: it was not reached, or did not say. The zero value is the same.
	Unknown State = "unknown"
	// Foreign: it answers, but not as a node of this cluster.
	Foreign State = "foreign"
	// Maintenance: it has no configuration yet, and proves nothing.
	Maintenance State = "maintenance"
	// Empty: it is configured, and has no etcd: its data directory is empty, and
	// the service waits to be bootstrapped or to join.
	Empty State = "empty"
	// Data: it has data of etcd, which does not serve.
	Data State = "data"
	// Serving: its etcd serves.
	Serving State = "serving"
)

// ControlPlane is a control plane as it was seen.
type ControlPlane struct {
	Name string
	// Whether the tree has it. What only has the labels of the cluster has to
	// prove as much.
	InTree bool
	// The machine that the node is (a server's id, a UUID), and its boot.
	Machine string
	BootID  string
	State   State
	// Of a state Unknown or Foreign: why.
	Reason string
	// Of a state Serving: the id of the etcd cluster.
	Cluster string
	// What runs have noted on it for each other, and for how many seconds this run
	// has seen that unchanged.
	Note Note
	Seen int64
	// Whether nothing can be noted on it.
	Mute bool
}

// Intent is what is recorded beside the cluster, as labels on its network, or where
// there is none remembered by a run. The zero value says that nothing is.
type Intent struct {
	// The node that is to be bootstrapped, and the machine that it was.
	Node    string
	Machine string
	// The digest of the snapshot that etcd is made from; empty: it begins empty.
	Snapshot string
	// The boot of the node in which Bootstrap was called last, and when, in seconds
	// since 1970. It is recorded before the call.
	CalledBoot string
	CalledAt   int64
	// Whether etcd was seen to serve since.
	Done bool
}

// Pause is how many seconds Bootstrap is not called again on the same boot. Talos
// that is asked a second time stops etcd first, and looks for data only then: if
// etcd has just begun, it stays stopped until the node reboots. The first call may
// have had its effect though its answer was lost, and an image takes its time.
const Pause = 5 * 60

// Observation is one look: the intent, and every control plane that the tree
// has or that has the cluster's labels.
type Observation struct {
	Intent        Intent
	At            int64 // when, in seconds since 1970
	ControlPlanes []ControlPlane

	// Where no lock keeps others out: the run that looks. What it has announced, if
	// it was done with that in time, and how many seconds ago.
	Run string
	Own Note
	Age int64
}

// Action is what to do next.
type Action string

// The actions. After all but Finished and Refuse, look again.
const (
	Record       Action = "record"    // write the intent: Node, Machine and Snapshot
	ObserveAgain Action = "look"      // at once: once more, then it is sure
	Announce     Action = "announce"  // write Note on every control plane, in half of Hold since the look began
	Call         Action = "bootstrap" // call Bootstrap on Node, over a connection to BootID
	Wait         Action = "wait"      // for what Reason says, a while
	MarkDone     Action = "mark-done" // write that the intent is done
	Finished     Action = "finished"  // nothing
	Refuse       Action = "refuse"    // stop: Reason, and Hint
)

// Decision is an action, and why.
type Decision struct {
	Action  Action
	Node    string
	Machine string
	BootID  string
	// Of Record and Call: the digest of the snapshot that etcd is made from.
	Snapshot string
	Note     Note // of Announce
	Reason   string
	Hint     string
}

// Decide decides from two looks in a row; the first time, earlier is empty.
// Snapshot is the digest of what somebody wants a new etcd cluster to be made
// from, in place of the one that was lost; empty: nobody does.
func Decide(now, earlier Observation, snapshot string) Decision {
	controlPlanes := slices.Clone(now.ControlPlanes)
	sorting.By(controlPlanes, func(a, b ControlPlane) int {
		return cmp.Or(natural.Compare(a.Name, b.Name), cmp.Compare(a.Machine, b.Machine))
	})
	if d, decided := contradiction(controlPlanes); decided {
		return d
	}
	if serving := in(controlPlanes, Serving); len(serving) > 0 {
		return done(now.Intent, serving, snapshot)
	}
	if data := in(controlPlanes, Data); len(data) > 0 {
		return Decision{Action: Wait, Reason: "etcd has data on " + reasons(data) + ", but does not serve",
			Hint: "if it does not come back: reboot the node; see its log with talosctl logs etcd, or recover from a snapshot on nodes that are reset"}
	}
	if unknown := in(controlPlanes, Unknown, ""); len(unknown) > 0 {
		return Decision{Action: Wait, Reason: "it is unknown whether there is etcd on " + reasons(unknown),
			Hint: "etcd is bootstrapped only if every control plane says that it has none: start it, or take it out of the cluster"}
	}
	if bare := in(controlPlanes, Maintenance); len(bare) > 0 {
		return Decision{Action: Wait, Reason: names(bare) + " has no configuration yet"}
	}
	return choose(now, earlier, controlPlanes, snapshot)
}

// done decides if etcd serves. What is not known to be made from the snapshot that
// somebody wants back is not taken for it.
func done(intent Intent, serving []ControlPlane, snapshot string) Decision {
	d := Decision{Action: Finished, Node: serving[0].Name, Machine: serving[0].Machine, Reason: "etcd serves on " + names(serving)}
	switch {
	case snapshot != "" && intent.Snapshot != snapshot:
		d.Action, d.Reason = Refuse, d.Reason+" already; the snapshot would be ignored"
		d.Hint = "apply without a snapshot; to go back to it nevertheless, first reset every control plane: talosgen reset"
	case !intent.Done:
		d.Action = MarkDone
	}
	return d
}

// contradiction refuses what cannot be one cluster.
func contradiction(controlPlanes []ControlPlane) (Decision, bool) {
	refuse := func(reason, hint string) (Decision, bool) {
		return Decision{Action: Refuse, Reason: reason, Hint: hint}, true
	}
	if foreign := in(controlPlanes, Foreign); len(foreign) > 0 {
		return refuse("another cluster has "+reasons(foreign), "check the addresses in infrastructure.yaml; to take the machine over, reset it first")
	}
	for i := range controlPlanes {
		for _, other := range controlPlanes[:i] {
			if other.Name == controlPlanes[i].Name {
				return refuse("two machines are "+other.Name, "take one of them out of the cluster")
			}
			if a, b := other.Cluster, controlPlanes[i].Cluster; other.State == Serving && controlPlanes[i].State == Serving && a != b {
				return refuse(fmt.Sprintf("there are two etcd clusters: %s on %s, %s on %s", a, other.Name, b, controlPlanes[i].Name),
					"find out which of them has the data of the cluster, and reset the nodes of the other one")
			}
		}
	}
	return Decision{}, false
}

// choose decides if every control plane has proved that it has no etcd.
func choose(now, earlier Observation, controlPlanes []ControlPlane, snapshot string) Decision {
	intent := now.Intent
	if d, lost := loses(intent, snapshot); lost {
		return d
	}
	wanted := func(p ControlPlane) bool {
		return p.InTree && (intent.Node == "" || intent.Done || p.Name == intent.Node)
	}
	i := slices.IndexFunc(controlPlanes, wanted)
	switch {
	case i < 0 && intent.Node == "":
		return Decision{Action: Refuse, Reason: "the tree has no control plane", Hint: "set controlPlanes in cluster.yaml"}
	case i < 0:
		return Decision{Action: Refuse, Reason: "another run began to bootstrap " + intent.Node + ", which this tree does not have",
			Hint: "apply the tree that has it; or remove the record if that node is gone for good"}
	}
	p := controlPlanes[i]
	d := Decision{Node: p.Name, Machine: p.Machine, BootID: p.BootID, Snapshot: snapshot}
	switch {
	case intent.Done || intent.Node != p.Name || intent.Machine != p.Machine || intent.Snapshot != snapshot:
		d.Action, d.Reason = Record, "no control plane has etcd; "+p.Name+" is the first"
	case !confirmed(now, earlier):
		d.Action, d.Reason = ObserveAgain, "no control plane has etcd, if it still is so at a second look"
	case intent.CalledBoot == p.BootID && now.At >= intent.CalledAt && now.At-intent.CalledAt < Pause:
		return awaitBegun(d, p.Name)
	default:
		return turn(now, controlPlanes, d)
	}
	return d
}

// loses refuses to make an etcd without the data that the cluster had, or that
// somebody began to give back to it.
func loses(intent Intent, snapshot string) (Decision, bool) {
	d := Decision{Action: Refuse}
	switch {
	case intent.Done && snapshot == "":
		d.Reason = "the cluster was bootstrapped before, and no control plane has etcd any more"
		d.Hint = "with --recover-from a snapshot it gets its data back"
	case intent.Done, intent.Snapshot == "", intent.Snapshot == snapshot:
		return d, false
	case snapshot == "":
		d.Reason = "another run began to recover it from the snapshot " + intent.Snapshot + ", and did not finish"
		d.Hint = "go on with --recover-from that snapshot: an etcd without it would be empty"
	default:
		d.Reason = "another run began to recover it from the snapshot " + intent.Snapshot + ", and this is another one: " + snapshot
		d.Hint = "go on with the first; to take this one, remove the record of the other: the label talosgen.dev/bootstrap-snapshot of the network; " +
			"machines that exist already lose it when they are reset"
	}
	return d, true
}

// confirmed reports whether two looks saw the same: the same intent, and the
// same control planes in the same boots, without etcd.
func confirmed(now, earlier Observation) bool {
	if now.Intent != earlier.Intent || len(now.ControlPlanes) != len(earlier.ControlPlanes) {
		return false
	}
	for _, p := range now.ControlPlanes {
		same := func(e ControlPlane) bool {
			return e.Name == p.Name && e.Machine == p.Machine && e.BootID == p.BootID && e.State == Empty
		}
		if p.BootID == "" || p.State != Empty || !slices.ContainsFunc(earlier.ControlPlanes, same) {
			return false
		}
	}
	return true
}

func in(controlPlanes []ControlPlane, states ...State) (found []ControlPlane) {
	for _, p := range controlPlanes {
		if slices.Contains(states, p.State) {
			found = append(found, p)
		}
	}
	return found
}

func names(controlPlanes []ControlPlane) string { return joined(controlPlanes, ", ") }

func joined(controlPlanes []ControlPlane, separator string) string {
	list := make([]string, len(controlPlanes))
	for i, p := range controlPlanes {
		list[i] = p.Name
	}
	return strings.Join(list, separator)
}

func reasons(controlPlanes []ControlPlane) string {
	list := make([]string, len(controlPlanes))
	for i, p := range controlPlanes {
		list[i] = p.Name
		if p.Reason != "" {
			list[i] += " (" + p.Reason + ")"
		}
	}
	return strings.Join(list, ", ")
}
