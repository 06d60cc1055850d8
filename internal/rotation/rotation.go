// Package rotation is how a certificate authority of a living cluster is replaced:
// the phases that Git goes through, and what nodes may be given while they are not
// all in the same phase. It is pure, and knows authorities by what stands for them:
// a certificate, or a digest of it.
//
// What it keeps: at no moment is there a node that does not trust another one, or
// the client of a run, however far a run got.
package rotation

import (
	"errors"
	"slices"
)

// Phase is how far a rotation is in Git.
type Phase string

// The phases. After Issue there is none again.
const (
	None   Phase = ""
	Accept Phase = "accept" // the old one issues; nodes learn to trust the new one
	Issue  Phase = "issue"  // the new one issues; nodes trust the old one still
)

// State is what Git has. Of no rotation, Other is empty.
type State[CA comparable] struct {
	Phase   Phase
	Issuing CA
	Other   CA // in Accept the next one, in Issue the one before
}

// Next is the phase after this one. fresh is the new authority; a rotation that has
// begun has one already, and keeps it.
func (s State[CA]) Next(fresh CA) State[CA] {
	switch s.Phase {
	case Accept:
		return State[CA]{Issue, s.Other, s.Issuing}
	case Issue:
		return State[CA]{Issuing: s.Issuing}
	default:
		return State[CA]{Accept, s.Issuing, fresh}
	}
}

// Back is the phase before this one. After the last one, which forgets the old
// authority, there is no way back.
func (s State[CA]) Back() (State[CA], error) {
	switch s.Phase {
	case Accept:
		return State[CA]{Issuing: s.Issuing}, nil
	case Issue:
		return State[CA]{Accept, s.Other, s.Issuing}, nil
	default:
		return s, errors.New("no rotation is under way: there is nothing to go back from")
	}
}

// Trust is what the configuration of a node says.
type Trust struct {
	Issues  string   // the authority that signs the certificate of its API
	Accepts []string // those that it trusts besides
}

// Equal reports whether two configurations say the same.
func (t Trust) Equal(o Trust) bool { return t.Issues == o.Issues && slices.Equal(t.Accepts, o.Accepts) }

// trusts reports whether who shows a certificate of an authority is let in.
func (t Trust) trusts(authority string) bool {
	return t.Issues == authority || slices.Contains(t.Accepts, authority)
}

// Step reports whether a node may go from what it has to what Git has, as far as
// the node alone tells: it trusts the new authority already, and goes on to trust
// the old one.
func Step(has, wants Trust) bool {
	return has.Issues == wants.Issues || has.trusts(wants.Issues) && wants.trusts(has.Issues)
}

// Forgets reports whether a node trusts something that it is to trust no longer.
func Forgets(has, wants Trust) bool {
	return has.Issues != "" && !wants.trusts(has.Issues) || slices.ContainsFunc(has.Accepts, func(a string) bool { return !wants.trusts(a) })
}

// Node is a node and what it has; nil if that is not known.
type Node struct {
	Name  string
	Trust *Trust
	Hint  string // what helps where others wait for it; may be empty
}

// Gate says of a node that may take its step why it has to wait for others; empty
// if it has not. others are all nodes of the cluster, itself included.
func Gate(kind Kind, has, wants Trust, others []Node) string {
	why, _ := Awaited(kind, has, wants, others)
	return why
}

// Awaited is [Gate], and for which node it has to wait.
func Awaited(kind Kind, has, wants Trust, others []Node) (why string, node Node) {
	if Learns(has, wants) {
		return "", node
	}
	for _, o := range others {
		switch {
		case o.Trust == nil:
			return kind.unknown(o.Name), o
		case !o.Trust.trusts(wants.Issues):
			return kind.behind(o.Name), o
		case !wants.trusts(o.Trust.Issues):
			return kind.late(o.Name), o
		}
	}
	return "", node
}

// Learns reports whether a node goes on as it is but for what it learns to trust: it
// signs with the same authority, and forgets none.
func Learns(has, wants Trust) bool { return has.Issues == wants.Issues && !Forgets(has, wants) }
