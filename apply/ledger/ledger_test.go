package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func entry(n int) Entry {
	return Entry{
		Time: time.Date(2026, 11, 25, 6, 0, n, 0, time.UTC), Owner: "ann@desk", Run: fmt.Sprintf("run-%d", n), Command: "apply",
		Commit: "0123456789abcdef0123456789abcdef01234567", Plan: "feed", Outcome: "done", Changes: n,
	}
}

// added is a history with entries.
func added(t *testing.T, text string, entries ...Entry) string {
	t.Helper()
	for _, e := range entries {
		var err error
		if text, err = Add(text, e); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

func TestTable(t *testing.T) {
	text := added(t, "", entry(1), entry(2), Entry{Time: entry(3).Time, Owner: "bob@laptop", Run: "3", Command: "upgrade", Outcome: "failed"})
	want := `time                  by          command  commit        changes  outcome
2026-11-25T06:00:03Z  bob@laptop  upgrade  -             0        failed
2026-11-25T06:00:02Z  ann@desk    apply    0123456789ab  2        done
2026-11-25T06:00:01Z  ann@desk    apply    0123456789ab  1        done
`
	if got := Table(Newest(Read(text))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Table(nil); got != "no runs are recorded\n" {
		t.Errorf("an empty history is %q", got)
	}
}

// What was recorded last is the newest, also if the clock says otherwise: that of an API
// server is known to a second, and another server's may differ.
func TestNewestIsRecordedLast(t *testing.T) {
	early := entry(2)
	early.Time = entry(1).Time.Add(-time.Second)
	if got := Newest(Read(added(t, "", entry(1), early))); got[0] != early || got[1] != entry(1) {
		t.Errorf("got %+v", got)
	}
}

// An entry is there once, however often it is added: an answer may have been lost.
func TestAddTwice(t *testing.T) {
	once := added(t, "", entry(1), entry(2))
	if twice := added(t, once, entry(1), entry(2)); twice != once {
		t.Errorf("got\n%s\nwant\n%s", twice, once)
	}
}

// The oldest entries make room, and no text makes the history too large for a
// ConfigMap.
func TestHistoryIsBounded(t *testing.T) {
	text := ""
	for n := range 3 * mostEntries {
		e := entry(n)
		if n%2 == 0 {
			e.Owner = strings.Repeat("ö", 4000)
		}
		text = added(t, text, e)
		if entries := Read(text); len(text) > mostBytes || len(entries) > mostEntries || entries[len(entries)-1].Run != e.Run {
			t.Fatalf("after %d runs it has %d entries and %d bytes", n+1, len(entries), len(text))
		}
	}
	if entries := Read(text); len(entries) < mostEntries/2 {
		t.Errorf("only %d entries are left", len(entries))
	}
}

// What somebody else wrote there is left out, and does not go.
func TestForeignLines(t *testing.T) {
	text := added(t, "edited by hand\n{\"future\": true}", entry(1))
	if entries := Read(text); len(entries) != 1 || entries[0] != entry(1) {
		t.Errorf("read %+v", entries)
	}
	if !strings.HasPrefix(text, "edited by hand\n{\"future\": true}\n{") {
		t.Errorf("got %q", text)
	}
}
