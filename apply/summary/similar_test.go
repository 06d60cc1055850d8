package summary

import (
	"slices"
	"testing"
)

func TestSimilar(t *testing.T) {
	away := func(node, address string) Pending {
		return Pending{Kind: Unreachable, Object: "node " + node, Text: "it is not reached (" + address + ":50000: no answer): left", Hint: "see its console"}
	}
	all := []Pending{away("a", "(10.0.0.2"), away("b", "x: 10.0.0.2"), away("c", "x: 10.0.0.3"), {Kind: Held, Object: "node a", Text: "it is held"}}
	for i := range 5 {
		all = append(all, away(string(rune('d'+i)), "x: [fd00::1]"))
	}
	want := []Pending{
		all[0],
		{Kind: Unreachable, Object: "node b, node c, node d and 4 more", Text: "it is not reached (x: no answer): left", Hint: "see its console"},
		all[3],
	}
	if got := similar(all); !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}
