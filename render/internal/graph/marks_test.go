package graph

import (
	"slices"
	"strings"
	"testing"
)

// marks are of each kind of object, some of which are not in the picture.
func marks() map[string]Become {
	return map[string]Become{
		"server/blue-control-plane-1": Change, "server/blue-control-plane-2": Change, "server/blue-control-plane-3": Change,
		"server/blue-app-1": Add, "server/blue-app-50": Replace, "server/blue-app-100": Refused, "server/blue-app-101": Destroy,
		"load-balancer/blue-ingress": Add, "firewall/blue-nodes": Change, "floating-ip/blue-kube-api": Add,
		"dns-record/api.example.com/A": Replace, "network/blue": Change, "subnet/10.0.90.0/24": Add,
		"placement-group/blue-old": Destroy, "kubernetes/ConfigMap/a/b": Destroy, "ssh-key/blue": Add,
	}
}

func marked(t *testing.T) *Picture {
	t.Helper()
	p, err := New(everything())
	if err != nil {
		t.Fatal(err)
	}
	p.Mark(marks())
	return p
}

// TestMark: what becomes of objects is on the cards that stand for them, and what the tree
// does not have is a group of its own.
func TestMark(t *testing.T) {
	p := marked(t)
	if want := " · 5 to add, 5 to change, 2 to replace, 3 to destroy, 1 refused"; !strings.HasSuffix(p.Subtitle, want) {
		t.Errorf("subtitle %q, not %q", p.Subtitle, want)
	}
	notes := map[string]string{}
	var leaving []string
	for _, g := range p.Groups {
		for _, r := range g.Rows {
			for _, c := range r.Cards {
				if c.Kind == Leaving {
					leaving = append(leaving, c.Lines[0].Left+" "+c.Title)
				} else if c.Note != "" {
					notes[c.Title] = string(c.Become) + ": " + c.Note
				}
			}
		}
	}
	want := map[string]string{
		"control-plane": "change: 3 to change", "app": "refused: 1 to add, 1 to replace, 1 refused", "blue-ingress": "add: to add",
		"blue-nodes": "change: to change", "blue-kube-api": "add: to add", "api.example.com": "replace: to replace",
	}
	for title, note := range want {
		if notes[title] != note {
			t.Errorf("%s: %q, not %q", title, notes[title], note)
		}
	}
	if len(notes) != len(want) {
		t.Errorf("notes: %v", notes)
	}
	if !slices.Equal(leaving, []string{"placement-group blue-old", "server blue-app-101"}) {
		t.Errorf("leaving: %q", leaving)
	}
	text := string(p.Mermaid())
	for _, want := range []string{
		"~ blue-control-plane-1 10.0.64.2", "+ blue-app-1 10.0.80.2", "10.0.90.0/24, empty, to add", "10.0.0.0/16, to change",
		"<i>load balancer · to add</i>", ",stroke-width:4px",
	} {
		if !strings.Contains(strings.NewReplacer("\u00a0", " ", "\u2011", "-").Replace(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestMarkNothing: a picture of what is as the tree says is said to be so.
func TestMarkNothing(t *testing.T) {
	p, err := New(everything())
	if err != nil {
		t.Fatal(err)
	}
	before := len(p.Groups)
	p.Mark(nil)
	if !strings.HasSuffix(p.Subtitle, " · as the tree says") || len(p.Groups) != before || strings.Contains(string(p.Mermaid()), "stroke-width") {
		t.Errorf("%s, %d groups", p.Subtitle, len(p.Groups))
	}
}

// TestBroken: the end of a line that has no room beside its beginning is below it.
func TestBroken(t *testing.T) {
	got := broken([]Line{{"short", "one"}, {strings.Repeat("long-", 9) + "1", "10.0.0.1"}, {Left: strings.Repeat("x", 99)}})
	if len(got) != 4 || got[1].Right != "" || got[2] != (Line{Right: "10.0.0.1"}) || got[3].Left == "" {
		t.Errorf("%q", got)
	}
}
