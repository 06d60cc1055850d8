package bootstrap

import (
	"cmp"
	"slices"
)

// Where no lock keeps other runs out, runs take turns by what they note on the
// control planes. It is Fischer's algorithm (L. Lamport, "A Fast Mutual Exclusion
// Algorithm", 1987, section 2):
//
//   - who sees no note of others announces itself on every control plane, and is
//     done with that within half of Hold since it began to look; else it begins
//     again;
//   - Hold later whoever did not see that has announced itself as well, and nobody
//     does any more. Of those who see their own announcement still, the one of
//     highest rank has its turn. One that was made among other control planes may
//     be seen where this one is not: it is waited for, whatever its rank is;
//   - who has its turn notes that it calls, in place of the announcement, and then
//     does, before Valid is over.
//
// Each run measures with its own clock, and how long a note stands is how long it
// has seen it: the clocks of others may show what they like.
const (
	// Hold is how many seconds an announcement stands before its run calls.
	Hold = 30
	// Valid is how many seconds after its announcement a run may still begin to
	// call. Then it announces itself again.
	Valid = 2 * Hold
	// Dead is after how many seconds an announcement counts no more: its run has
	// said by then that it calls, or never will.
	Dead = 4 * Hold
)

// Note is what runs that no lock keeps apart leave on control planes for each
// other. The zero value is none.
type Note struct {
	// The node that is bootstrapped, the digest of the snapshot that etcd is made
	// from, and the boot that is called; empty: nobody is about to.
	Node     string
	Snapshot string
	Boot     string
	// When, in seconds since 1970, by the clock of the run that noted it.
	At int64
	// Of an announcement: the run, and the names of the control planes that it was
	// made on, with commas between. Empty: Bootstrap is called, or was.
	Run   string
	Among string
}

// Announced reports whether a note says that a run is about to call.
func (n Note) Announced() bool { return n.Run != "" }

// outranks reports whether the run of an announcement has its turn before that of
// another one. All who have announced themselves see the same of it.
func (n Note) outranks(o Note) bool {
	return n.Among == o.Among && cmp.Or(cmp.Compare(n.At, o.At), cmp.Compare(n.Run, o.Run)) > 0
}

// turn decides whether a run calls that has seen that somebody should: at once
// where a lock keeps others out, or where nobody can note anything. What was recorded
// of a call before may be read late, so a note of one counts nevertheless.
func turn(now Observation, controlPlanes []ControlPlane, d Decision) Decision {
	asked := slices.DeleteFunc(slices.Clone(controlPlanes), func(p ControlPlane) bool { return p.Mute })
	if now.Run == "" || len(asked) == 0 {
		for _, p := range asked {
			if n := p.Note; n.Boot != "" && !n.Announced() && !rebooted(n, controlPlanes) && p.Seen < Pause && !now.over(n) {
				return awaitBegun(d, n.Node)
			}
		}
		d.Action, d.Reason = Call, "no control plane has etcd"
		return d
	}
	among := joined(asked, ",")
	announced := now.Own.Announced() && now.Own.Node == d.Node && now.Own.Boot == d.BootID && now.Own.Snapshot == d.Snapshot &&
		now.Own.Among == among && slices.ContainsFunc(asked, func(p ControlPlane) bool { return p.Note == now.Own })
	for _, p := range asked {
		switch n := p.Note; {
		case n.Boot == "" || rebooted(n, controlPlanes) || n.Run == now.Run:
		case !n.Announced() && p.Seen < Pause:
			return awaitBegun(d, n.Node)
		case n.Announced() && p.Seen < Dead && !(announced && now.Own.outranks(n)):
			d.Action, d.Reason = Wait, "another run is about to bootstrap "+n.Node
			d.Hint = "apply again when it has ended"
			return d
		}
	}
	switch {
	case !announced || now.Age >= Valid:
		d.Action, d.Reason = Announce, "no control plane has etcd; that others know who calls took too long"
		d.Hint = "the way to the nodes is slow: apply from a machine that is nearer to them"
		d.Note = Note{Node: d.Node, Snapshot: d.Snapshot, Boot: d.BootID, At: now.At, Run: now.Run, Among: among}
	case now.Age < Hold:
		d.Action, d.Reason = Wait, "another run may be about to bootstrap "+d.Node+" as well"
	default:
		d.Action, d.Reason = Call, "no control plane has etcd"
	}
	return d
}

// over reports whether a call that is noted is the one that is recorded, and too long
// ago to matter.
func (o Observation) over(n Note) bool {
	return n.Boot == o.Intent.CalledBoot && n.At == o.Intent.CalledAt && o.At-n.At >= Pause
}

// rebooted reports whether the boot that a note is of is over: a call to it fails.
func rebooted(n Note, controlPlanes []ControlPlane) bool {
	i := slices.IndexFunc(controlPlanes, func(p ControlPlane) bool { return p.Name == n.Node })
	return i >= 0 && controlPlanes[i].BootID != n.Boot
}

// awaitBegun waits for a node that was told to begin etcd.
func awaitBegun(d Decision, node string) Decision {
	d.Action, d.Reason = Wait, "etcd was told to begin on "+node+", and has no data yet"
	d.Hint = "its log says why: talosctl logs etcd; it may be that its image cannot be pulled"
	return d
}
