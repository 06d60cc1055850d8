// Package ledger is the history of a cluster, as it is kept in the cluster: who has
// changed it when, from which commit, and how that ended. It is pure.
package ledger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Bounds of a history: the oldest entries make room for new ones. A ConfigMap holds a
// mebibyte.
const (
	mostEntries = 200
	mostBytes   = 128 << 10
	mostText    = 256 // bytes of a text in an entry
	digits      = 12  // of a commit, for people
)

// Entry is a run that has changed something.
type Entry struct {
	Time time.Time `json:"time"` // when it ended, by the clock of the cluster
	// Who, and on which machine.
	Owner string `json:"owner"`
	// What no other run has.
	Run     string `json:"run"`
	Command string `json:"command"`
	// The commit that the tree is from; empty if it is in none as it is.
	Commit string `json:"commit,omitempty"`
	// What stands for the plan that the operator agreed to.
	Plan    string `json:"plan,omitempty"`
	Outcome string `json:"outcome"`
	// How much was changed.
	Changes int `json:"changes"`
}

// Read reads the entries of a history, the oldest first. Lines that are no entries are
// left out: a newer talosgen may have written them, and a history is not what a run
// depends on.
func Read(text string) (entries []Entry) {
	for line := range strings.Lines(text) {
		var e Entry
		if json.Unmarshal([]byte(line), &e) == nil && e.Run != "" {
			entries = append(entries, e)
		}
	}
	return entries
}

// Add is a history with one more entry. One that has the entry already stays as it is:
// an answer may have been lost. Lines that are no entries count like others.
func Add(text string, e Entry) (string, error) {
	for _, known := range Read(text) {
		if known.Run == e.Run {
			return text, nil
		}
	}
	for _, s := range []*string{&e.Owner, &e.Command, &e.Commit, &e.Plan, &e.Outcome} {
		*s = strings.ToValidUTF8((*s)[:min(len(*s), mostText)], "")
	}
	line, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	lines := append(slices.Collect(strings.Lines(text)), string(line)+"\n")
	if last := len(lines) - 2; last >= 0 && !strings.HasSuffix(lines[last], "\n") {
		lines[last] += "\n"
	}
	size := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if size += len(lines[i]); size > mostBytes || len(lines)-i > mostEntries {
			lines = lines[i+1:]
			break
		}
	}
	return strings.Join(lines, ""), nil
}

// Newest are entries, the newest first: the one that was recorded last. Their times do
// not tell: clocks are known to a second.
func Newest(entries []Entry) []Entry {
	newest := slices.Clone(entries)
	slices.Reverse(newest)
	return newest
}

// Table is a line for each entry, for people.
func Table(entries []Entry) string {
	if len(entries) == 0 {
		return "no runs are recorded\n"
	}
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "time\tby\tcommand\tcommit\tchanges\toutcome")
	for _, e := range entries {
		commit := cmp.Or(e.Commit[:min(len(e.Commit), digits)], "-")
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\n", e.Time.UTC().Format(time.RFC3339), e.Owner, e.Command, commit, e.Changes, e.Outcome)
	}
	_ = t.Flush() // a buffer takes everything
	return b.String()
}
