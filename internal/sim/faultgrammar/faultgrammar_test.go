package faultgrammar

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// grammar has a kind of each form; its effects are texts.
var grammar = Grammar[string, string]{
	{Name: "once", Times: 1, Effect: func(m string, f Fault) string { return m + " " + f.Kind }},
	{Name: "twice, on writes", Times: 2, Operations: func(o string) bool { return strings.HasPrefix(o, "write") }, Effect: func(string, Fault) string { return "two" }},
	{Name: "for some time", Times: -1, Longest: 30, Effect: func(string, Fault) string { return "long" }},
	{Name: "narrow", Times: -1, Narrow: true, Plain: func() string { return "narrow" }},
}

var operations = map[string]int{"read a": 3, "write a": 1, "write b": 2}

// TestRandom: a seed is always the same schedule; together they have each kind, on
// what it fits, and one to three faults.
func TestRandom(t *testing.T) {
	kinds, lengths, every := map[string]bool{}, map[int]bool{}, 0
	for seed := range uint64(500) {
		s := grammar.Random(rand.New(rand.NewPCG(seed, 1)).IntN, operations)
		if again := grammar.Random(rand.New(rand.NewPCG(seed, 1)).IntN, operations); !reflect.DeepEqual(s, again) {
			t.Fatalf("%d: %s and %s", seed, s, again)
		}
		lengths[len(s)] = true
		for _, f := range s {
			k := grammar.kind(f.Kind)
			kinds[f.Kind] = true
			if f.Operation == Every {
				every++
				if f.Single || k.Narrow {
					t.Errorf("%d: %s", seed, f)
				}
				continue
			}
			if !k.Fits(f.Operation) || f.Nth >= operations[f.Operation] || f.Nth > 0 && !f.Single || (f.Seconds > 0) != (k.Longest > 0) || f.Seconds > k.Longest+1 {
				t.Errorf("%d: %s", seed, f)
			}
		}
	}
	if len(lengths) != mostFaults || len(kinds) != len(grammar) || every == 0 {
		t.Errorf("lengths %v, kinds %v, %d on all operations", lengths, kinds, every)
	}
}

func TestEachOnce(t *testing.T) {
	if got := grammar.EachOnce(operations); len(got) != 3*3+2 {
		t.Errorf("%d: %v", len(got), got)
	}
}

// TestFirstAndLast: what strikes single calls does so on the last of several, too.
func TestFirstAndLast(t *testing.T) {
	last := map[string]int{}
	got := grammar.FirstAndLast(operations)
	for _, s := range got {
		if f := s[0]; f.Nth > 0 {
			last[f.Kind+", "+f.Operation] = f.Nth
		}
	}
	if want := map[string]int{"once, read a": 2, "once, write b": 1}; !reflect.DeepEqual(last, want) || len(got) != 3*3+2+2 {
		t.Errorf("%v, want %v: %v", last, want, got)
	}
}

// TestStriker: a fault strikes the call that it names, as often as its kind does,
// and nothing after the end.
func TestStriker(t *testing.T) {
	s := NewStriker(grammar, "m")
	s.Begin(Schedule{{Operation: "read a", Nth: 1, Kind: "once", Single: true}, {Operation: "write b", Kind: "twice, on writes"}})
	var got []string
	for _, operation := range []string{"read a", "read b", "read a", "read a", "write b", "write a", "write b", "write b"} {
		as, strikes := s.Next(operation)
		if (as != "") != strikes {
			t.Errorf("%s: %q, %v", operation, as, strikes)
		}
		got = append(got, as)
	}
	if want := []string{"", "", "m once", "", "two", "", "two", ""}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Begin(Schedule{{Operation: Every, Kind: "for some time"}})
	if as, _ := s.Next("anything"); as != "long" {
		t.Errorf("got %q", as)
	}
	if n := s.End(); n != 1 {
		t.Errorf("struck %d", n)
	}
	if as, strikes := s.Next("anything"); strikes {
		t.Errorf("after the end: %q", as)
	}
}

func TestFaultString(t *testing.T) {
	s := Schedule{{Operation: "read a", Nth: 1, Kind: "once"}, {Operation: Every, Kind: "for some time", Seconds: 7}}
	if got, want := s.String(), "read a (number 2): once; *: for some time, 7 s"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
