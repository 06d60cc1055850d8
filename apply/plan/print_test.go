package plan

import "testing"

// TestPrinter: notes are listed with their hints, and what others chose cannot
// move the cursor.
func TestPrinter(t *testing.T) {
	w := &Printer{}
	w.Line(0, "a\x1b[2Jb  ")
	w.Notes("warnings", nil)
	w.Notes("refused", Merged([]Note{{"server/a", "no", "then"}, {"", "never", ""}, {"server/b", "no", "then"}}))
	w.Missing([]string{"--allow a"})
	want := "a\\x1b[2Jb\nrefused:\n  server/a, server/b: no\n      then\n  never\nconsent is missing:\n  --allow a\n"
	if w.String() != want {
		t.Errorf("it is\n%s, want\n%s", w.String(), want)
	}
}

// TestSummary: what there is none of is not counted.
func TestSummary(t *testing.T) {
	for want, got := range map[string]string{
		"nothing to do":            Summary("nothing to do", 0, Count{0, "to create"}),
		"2 to create, 1 refused":   Summary("nothing to do", 1, Count{2, "to create"}, Count{0, "to delete"}),
		"1 to create, 3 to delete": Summary("", 0, Count{1, "to create"}, Count{3, "to delete"}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestChanged: an object that is on one side only came or went.
func TestChanged(t *testing.T) {
	was := []Digest{{Key: "same", Digest: "1"}, {Key: "other", Digest: "1"}, {Key: "gone", Digest: "1"}, {Key: "new"}, {Key: "away", Digest: "1"}}
	is := []Digest{{Key: "same", Digest: "1"}, {Key: "other", Digest: "2"}, {Key: "gone"}, {Key: "new", Digest: "1"}, {Key: "more", Digest: "1"}}
	want := []string{"other has changed", "gone is gone", "new is there now"}
	compare(t, Changed(was, is), want...)
	compare(t, Changed(All(was, is)), "other has changed", "gone is gone", "new is there now", "away is gone", "more is there now")
}

func compare(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
}
