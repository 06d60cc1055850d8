// Package lineage says whether a rendered tree may be applied after the one that
// was applied before it: a tree of Git's history, replayed, has a genuine seal, and
// only its age tells. It is pure: Git is asked by whoever uses it.
package lineage

import "fmt"

// Consent is the name by which somebody agrees to a tree that is older, or may be.
const Consent = "older-tree"

// Tree is a rendered tree, and the commit that it is from.
type Tree struct {
	// The commit, in hexadecimal; empty: the tree is in none as it is.
	Commit string
	// What only this tree has; empty: that is not known.
	Seal string
}

// Relation is what Git says of the commit that was applied and the present one.
type Relation int

// The relations.
const (
	Unknown Relation = iota // Git does not know the one that was applied, or not enough of the history
	Newer                   // the present one comes after the one that was applied
	Older                   // the present one comes before the one that was applied
	Apart                   // neither
)

// State is what follows from a comparison.
type State int

// The states, from harmless to refused.
const (
	Fine State = iota
	Warn
	Refuse
)

// Verdict is what follows, and why. Text and Hint are empty if the state is [Fine].
type Verdict struct {
	State      State
	Text, Hint string
}

// Asks reports whether [Decide] depends on what Git says of the two commits.
func Asks(applied, present Tree) bool {
	return !same(applied, present) && applied.Commit != "" && present.Commit != ""
}

// same reports whether it is the same tree, or the same commit.
func same(applied, present Tree) bool {
	return applied.Seal != "" && applied.Seal == present.Seal || applied.Commit != "" && applied.Commit == present.Commit
}

// Decide compares a tree with the one that was applied before; the zero value: none
// was, or it was not recorded. Agreed says whether somebody agreed to an older one.
func Decide(applied, present Tree, relation Relation, agreed bool) Verdict {
	a, p := Short(applied.Commit), Short(present.Commit)
	switch {
	case applied == Tree{}, same(applied, present), applied.Commit == "" && present.Commit == "":
		return Verdict{}
	case applied.Commit == "":
		return Verdict{Warn, fmt.Sprintf("whether commit %s is older than what was applied is not known: that was not committed", p),
			"look at what would change"}
	case present.Commit == "":
		return Verdict{Warn, fmt.Sprintf("whether it is older than commit %s, which was applied, is not known: it is not committed as it is", a),
			"commit it, and apply without --allow-dirty"}
	}
	switch relation {
	case Newer:
		return Verdict{}
	case Apart:
		return Verdict{Warn, fmt.Sprintf("commit %s does not follow commit %s, which was applied, nor the other way round: what only the other has is undone", p, a),
			"merge the two, or look at what would change"}
	case Older:
		return refuse(agreed, fmt.Sprintf("commit %s is older than commit %s, which was applied", p, a),
			"get what is newer (git pull); to go back, revert the newer commits, or agree")
	}
	return refuse(agreed, fmt.Sprintf("whether commit %s is older than commit %s, which was applied, cannot be told: Git here does not know that commit, or not the history between them", p, a),
		"fetch it (git fetch; in a pipeline with the whole history: fetch-depth: 0, GIT_DEPTH: 0), or agree")
}

// Unread is what follows if the record cannot be read, and why: it is not taken for
// none. A tree that is in no commit could not be compared with it either.
func Unread(present Tree, why string, agreed bool) Verdict {
	text := "whether it is older than what was applied cannot be told: " + why
	if present.Commit == "" {
		return Verdict{Warn, text, "commit it, and apply without --allow-dirty"}
	}
	return refuse(agreed, text, "mend that first, or agree")
}

// refuse refuses what nobody has agreed to.
func refuse(agreed bool, text, hint string) Verdict {
	if agreed {
		return Verdict{Warn, text, "you have agreed to it: --allow " + Consent}
	}
	return Verdict{Refuse, text, hint + ": --allow " + Consent}
}

// Short abbreviates a commit for people.
func Short(commit string) string {
	const length = 12
	return commit[:min(len(commit), length)]
}
