package lineage

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const (
	commitA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	commitB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// row is a record and a tree, with what follows from what Git says.
type row struct {
	name             string
	applied, present Tree
	want             map[Relation]State // of no consent
	names            []string           // of commits, in what is said
}

// check decides, and looks at what is said.
func (r row) check(t *testing.T, relation Relation, want State, agreed bool) {
	v := Decide(r.applied, r.present, relation, agreed)
	if want == Refuse && agreed {
		want = Warn
	}
	if v.State != want || (v.Text == "") != (want == Fine) || (v.Hint == "") != (want == Fine) {
		t.Fatalf("%+v, want %d", v, want)
	}
	if want == Fine {
		return
	}
	for _, name := range r.names {
		if !strings.Contains(v.Text, "commit "+Short(name)) || strings.Contains(v.Text, name) && len(name) > len(Short(name)) {
			t.Errorf("%q does not name %s", v.Text, Short(name))
		}
	}
	if refused := v.State == Refuse; refused != strings.HasSuffix(v.Hint, "agree: --allow "+Consent) {
		t.Errorf("%d with the hint %q", v.State, v.Hint)
	}
}

// Every record with every tree and everything that Git may say, with and without
// consent: the state does not depend on anything else.
func TestDecide(t *testing.T) {
	all := func(s State) map[Relation]State { return map[Relation]State{Unknown: s, Newer: s, Older: s, Apart: s} }
	asked := map[Relation]State{Unknown: Refuse, Newer: Fine, Older: Refuse, Apart: Warn}
	for _, r := range []row{
		{"no record", Tree{}, Tree{commitA, "1"}, all(Fine), nil},
		{"same tree, other commit", Tree{commitB, "1"}, Tree{commitA, "1"}, all(Fine), nil},
		{"same tree, not committed", Tree{commitB, "1"}, Tree{"", "1"}, all(Fine), nil},
		{"same commit, other tree", Tree{commitB, "1"}, Tree{commitB, "2"}, all(Fine), nil},
		{"never committed", Tree{"", "1"}, Tree{"", "2"}, all(Fine), nil},
		{"what was applied was not committed", Tree{"", "1"}, Tree{commitA, "2"}, all(Warn), []string{commitA}},
		{"it is not committed", Tree{commitB, "1"}, Tree{"", "2"}, all(Warn), []string{commitB}},
		{"other commit and tree", Tree{commitB, "1"}, Tree{commitA, "2"}, asked, []string{commitA, commitB}},
		{"seals that are not known are not the same", Tree{commitB, ""}, Tree{commitA, ""}, asked, []string{commitA, commitB}},
		{"the record has no seal", Tree{commitB, ""}, Tree{commitA, "2"}, asked, []string{commitA, commitB}},
		{"a record that somebody edited", Tree{"--x", "1"}, Tree{commitA, "2"}, asked, []string{commitA, "--x"}},
	} {
		for relation, want := range r.want {
			for _, agreed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%v", r.name, relation, agreed), func(t *testing.T) { r.check(t, relation, want, agreed) })
			}
		}
		if asks := r.want[Unknown] == Refuse; Asks(r.applied, r.present) != asks {
			t.Errorf("%s: Git is asked: %v, want %v", r.name, !asks, asks)
		}
	}
}

// A record that cannot be read is not taken for none.
func TestUnread(t *testing.T) {
	for agreed, want := range map[bool]State{false: Refuse, true: Warn} {
		v := Unread(Tree{Commit: commitA}, "nobody answers", agreed)
		if v.State != want || !strings.HasSuffix(v.Text, "cannot be told: nobody answers") || !strings.HasSuffix(v.Hint, "--allow "+Consent) {
			t.Errorf("%+v, want %d", v, want)
		}
	}
	if v := Unread(Tree{Seal: "1"}, "nobody answers", false); v.State != Warn || !strings.HasSuffix(v.Text, "nobody answers") || strings.Contains(v.Hint, Consent) {
		t.Errorf("in no commit: %+v", v)
	}
}

// What the documentation shows of a refusal is what is said.
func TestDocsShowTheRefusal(t *testing.T) {
	page, err := os.ReadFile("../../../docs/explanation/apply.md")
	if err != nil {
		t.Fatal(err)
	}
	v := Decide(Tree{Commit: "5403bd45adfa"}, Tree{Commit: "04f6c730406a"}, Older, false)
	if shown := "> rendered/prod: " + v.Text + "\n>\n> " + v.Hint + "\n"; !strings.Contains(string(page), shown) {
		t.Errorf("it does not show\n%s", shown)
	}
}
