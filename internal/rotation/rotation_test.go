package rotation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// trust is what nodes are to have in a phase.
func trust(s State[string]) Trust {
	t := Trust{Issues: s.Issuing}
	if s.Phase != None {
		t.Accepts = []string{s.Other}
	}
	return t
}

func TestPhases(t *testing.T) {
	for _, tt := range []struct {
		name             string
		have, next, back State[string]
	}{
		{"none", State[string]{"", "old", ""}, State[string]{Accept, "old", "new"}, State[string]{}},
		{"accept", State[string]{Accept, "old", "new"}, State[string]{Issue, "new", "old"}, State[string]{"", "old", ""}},
		{"issue", State[string]{Issue, "new", "old"}, State[string]{"", "new", ""}, State[string]{Accept, "old", "new"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fresh := "new"
			if tt.have.Phase != None {
				fresh = "another"
			}
			if got := tt.have.Next(fresh); got != tt.next {
				t.Errorf("next: %v", got)
			}
			got, err := tt.have.Back()
			if (err != nil) != (tt.have.Phase == None) || err == nil && got != tt.back {
				t.Errorf("back: %v, %v", got, err)
			}
		})
	}
}

func TestGate(t *testing.T) {
	old, accept, issue, done := Trust{Issues: "a"}, Trust{"a", []string{"b"}}, Trust{"b", []string{"a"}}, Trust{Issues: "b"}
	for _, tt := range []struct {
		name       string
		has, wants Trust
		other      *Trust
		step       bool
		want       string
	}{
		{"learn", old, accept, &old, true, ""},
		{"learn beside a silent one", old, accept, nil, true, ""},
		{"issue", accept, issue, &accept, true, ""},
		{"issue beside one that has it", accept, issue, &issue, true, ""},
		{"issue beside one that was missed", accept, issue, &old, true, "o does not trust the new authority yet"},
		{"issue beside a silent one", accept, issue, nil, true, "it is not known which authorities o trusts"},
		{"issue unprepared", old, issue, &accept, false, "o does not trust"},
		{"replace at once", accept, done, &accept, false, "o has certificates of the old authority still"},
		{"forget", issue, done, &issue, true, ""},
		{"forget beside one that is done", issue, done, &done, true, ""},
		{"forget beside one that is behind", issue, done, &accept, true, "o has certificates of the old authority still"},
		{"back", issue, accept, &issue, true, ""},
		{"back beside one that was missed", issue, accept, &accept, true, ""},
		{"back to the beginning", accept, old, &accept, true, ""},
		{"back to the beginning too early", accept, old, &issue, true, "o has certificates of the old authority still"},
		{"nothing", old, old, nil, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Step(tt.has, tt.wants); got != tt.step {
				t.Errorf("step: %v", got)
			}
			got := Gate(TalosCA, tt.has, tt.wants, []Node{{Name: "o", Trust: tt.other}})
			if tt.step && got != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestNobodyIsLost: Git goes on, and back, whenever somebody likes, runs end
// wherever they end, nodes are away while others are changed; and no two nodes
// ever lose one another. Going on ends the same.
func TestNobodyIsLost(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		git := State[string]{Issuing: "0"}
		nodes := make([]Trust, 1+r.IntN(5))
		for i := range nodes {
			nodes[i] = trust(git)
		}
		apply := func(kill bool, away int) {
			for _, i := range r.Perm(len(nodes)) {
				if kill && r.IntN(3) == 0 {
					return
				}
				seen := make([]Node, len(nodes))
				for k := range nodes {
					seen[k] = Node{Name: fmt.Sprint(k), Trust: &nodes[k]}
					if k == away {
						seen[k].Trust = nil
					}
				}
				if i != away && Step(nodes[i], trust(git)) && Gate(TalosCA, nodes[i], trust(git), seen) == "" {
					nodes[i] = trust(git)
				}
				for _, a := range nodes {
					for _, b := range nodes {
						if !a.trusts(b.Issues) {
							t.Fatalf("seed %d: %v does not trust %v", seed, a, b)
						}
					}
				}
			}
		}
		for range 30 {
			// An authority is forgotten when every node issues by the other one.
			keeps := git.Phase == None || !slices.ContainsFunc(nodes, func(n Trust) bool { return n.Issues != git.Issuing })
			switch r.IntN(4) {
			case 0:
				if git.Phase != Issue || keeps {
					git = git.Next(fmt.Sprint(r.Uint32()))
				}
			case 1:
				if back, err := git.Back(); err == nil && (git.Phase != Accept || keeps) {
					git = back
				}
			default:
				apply(true, r.IntN(2*len(nodes)))
			}
		}
		finish(t, &git, nodes, func() { apply(false, -1) })
		for _, n := range nodes {
			if n.Issues != git.Issuing || len(n.Accepts) != 0 {
				t.Fatalf("seed %d: Git has %v, and a node %v", seed, git, n)
			}
		}
	}
}

// finish ends what is under way: back first if nodes were missed, and on.
func finish(t *testing.T, git *State[string], nodes []Trust, apply func()) {
	t.Helper()
	if apply(); git.Phase == Issue && slices.ContainsFunc(nodes, func(n Trust) bool { return n.Issues != git.Issuing }) {
		*git, _ = git.Back()
		apply()
	}
	for git.Phase != None {
		*git = git.Next("")
		apply()
	}
}
