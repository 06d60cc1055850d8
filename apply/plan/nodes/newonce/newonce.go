// Package newonce decides whether a machine may be given a configuration without
// having proven that it is a node of the cluster: a machine is new once.
//
// In maintenance mode nothing proves who answers. So only a machine that is
// recorded as one that was never configured is asked there, or one that the
// operator names. A node that lives is verified by the authority of its cluster,
// or it is refused. The decision is a pure function of what the records say, of
// what answered where, and of consent; what cannot be read is never taken for
// absent.
package newonce

// State is what talosgen itself has recorded of a machine.
type State string

// The states.
const (
	// Unrecorded is a machine without a record: an older version of talosgen made
	// it, or somebody else did, or the record was taken away. The zero value.
	Unrecorded State = ""
	// Blank is a machine that no configuration was sent to.
	Blank State = "blank"
	// Sending is a machine that a configuration was about to be sent to, and of
	// which nobody has recorded that it arrived.
	Sending State = "sending"
	// Sent is a machine that has its configuration.
	Sent State = "sent"
	// Unreadable is a record that could not be read.
	Unreadable State = "unreadable"
)

// Record is what talosgen itself has recorded of a machine.
type Record struct {
	State State
	// Of [Sending]: the fingerprint of the key that the machine showed in
	// maintenance mode, which it has in memory until it reboots.
	Fingerprint string
	// Whether the record is kept on the very machine, such as by a label of its
	// server, and goes with it. Else it is kept by the name of the node.
	Bound bool
	// Of [Unreadable]: why.
	Reason string
}

// Knowledge is what a cluster that runs knows of a node.
type Knowledge string

// What is known.
const (
	// Unasked: nobody could be asked, or has answered. The zero value.
	Unasked Knowledge = ""
	// NoCluster: there is no cluster yet that could know a node.
	NoCluster Knowledge = "no cluster"
	// Stranger: the cluster was asked, and does not know the node.
	Stranger Knowledge = "stranger"
	// Named: the cluster knows a node of this name.
	Named Knowledge = "named"
	// Same: the cluster knows this very machine, by its id.
	Same Knowledge = "same"
)

// Answer is what answered at the address that the node has with its
// configuration.
type Answer string

// The answers.
const (
	// Silence: nobody has answered. The zero value.
	Silence Answer = ""
	// Verified: the node, with a certificate of the cluster's authority.
	Verified Answer = "verified"
	// Other: somebody with a certificate of another authority, as machines have in
	// maintenance mode.
	Other Answer = "other"
)

// Consent is what the operator has said of a machine by its name.
type Consent struct {
	// It may be taken for a new one, whatever the records say.
	Allowed bool
	// It is the one that shows the key with this fingerprint in maintenance mode.
	Fingerprint string
}

// Input is what a decision is made from.
type Input struct {
	Record           Record
	Kubernetes, Etcd Knowledge
	Answer           Answer
	// Whether the machine is somewhere else before it is configured.
	BootsElsewhere bool
	// The fingerprint of the key that it has to show in maintenance mode, as the
	// tree says; empty: the tree does not say.
	Pin     string
	Consent Consent
}

// Verdict is what follows for a machine.
type Verdict string

// The verdicts.
const (
	// Node: it has proven that it is the node.
	Node Verdict = "node"
	// New: it may be asked in maintenance mode, and configured.
	New Verdict = "new"
	// Refused: it is not new, and somebody answers in its place who has not
	// proven to be it.
	Refused Verdict = "refused"
	// Undecided: it is unknown whether it is new. It may be asked in maintenance
	// mode whether it is there, and is not configured.
	Undecided Verdict = "undecided"
	// Silent: it does not answer, and is asked nowhere else.
	Silent Verdict = "silent"
)

// Proof is why a machine is taken for a new one.
type Proof string

// The proofs.
const (
	Recorded  Proof = "recorded"  // the records say so
	Resumed   Proof = "resumed"   // it still has the key that a configuration was about to be sent to
	Pinned    Proof = "pinned"    // it has the key that the operator names
	Consented Proof = "consented" // the operator says so
)

// Decision is what follows for a machine, and why.
type Decision struct {
	Verdict Verdict
	// Of [New]: why.
	Proof Proof
	// Of [New]: the fingerprint that the machine has to show; empty: nothing tells
	// it from another one.
	Pin string
	// Of [Refused] and [Undecided].
	Reason string
}

// Decide decides.
func Decide(in Input) Decision {
	if in.Answer == Verified {
		return Decision{Verdict: Node}
	}
	d := in.newness()
	if d.Verdict == New && d.Proof != Pinned && in.Pin != "" {
		d.Pin = in.Pin
	}
	switch {
	case in.Answer == Other:
		return d
	case !in.BootsElsewhere, d.Verdict == Refused:
		return Decision{Verdict: Silent}
	}
	return d
}

// newness says whether a machine that has not proven to be the node may be new.
func (in Input) newness() Decision {
	switch {
	case in.Consent.Fingerprint != "":
		return Decision{Verdict: New, Proof: Pinned, Pin: in.Consent.Fingerprint}
	case in.Consent.Allowed:
		return Decision{Verdict: New, Proof: Consented}
	}
	switch in.Record.State {
	case Blank:
		if in.Record.Bound {
			return in.ofMachine()
		}
		return in.ofName()
	case Sending:
		return in.resumed()
	case Unreadable:
		return Decision{Verdict: Undecided, Reason: "the record of whether it was configured cannot be read: " + in.Record.Reason}
	case Sent:
		return refused("it was configured")
	}
	return refused("no record says that it was never configured")
}

// ofMachine decides for a machine whose own record says that it is new. What a
// cluster knows of its name only, it knows of the machine before it.
func (in Input) ofMachine() Decision {
	if in.Kubernetes == Same || in.Etcd == Same {
		return refused("its record says that it was never configured, but the cluster knows this machine")
	}
	return Decision{Verdict: New, Proof: Recorded}
}

// ofName decides for a machine whose name is not among those that were
// configured. Whoever wrote down which those are may have been elsewhere, so the
// cluster is asked too.
func (in Input) ofName() Decision {
	switch {
	case known(in.Kubernetes):
		return refused("it is registered in Kubernetes")
	case known(in.Etcd):
		return refused("it is a member of etcd")
	case in.Kubernetes == Unasked || in.Etcd == Unasked:
		return Decision{Verdict: Undecided, Reason: "it is unknown whether it is new: no running control plane node can be asked"}
	}
	return Decision{Verdict: New, Proof: Recorded}
}

// resumed decides for a machine that a configuration was about to be sent to when
// a run ended. It is the same one as long as it has the same key, which nobody
// else has.
func (in Input) resumed() Decision {
	switch {
	case in.Record.Fingerprint == "":
		return refused("a configuration was sent to it")
	case in.Kubernetes == Same || !in.Record.Bound && known(in.Kubernetes):
		return refused("it is registered in Kubernetes")
	case in.Etcd == Same || !in.Record.Bound && known(in.Etcd):
		return refused("it is a member of etcd")
	}
	return Decision{Verdict: New, Proof: Resumed, Pin: in.Record.Fingerprint}
}

func known(k Knowledge) bool { return k == Named || k == Same }

func refused(why string) Decision { return Decision{Verdict: Refused, Reason: why} }
