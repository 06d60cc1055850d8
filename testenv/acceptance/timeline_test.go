//go:build linux

package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// timeline is what a test did, how long it took, and how much the nodes worked
// meanwhile.
type timeline struct {
	t    *testing.T
	bed  *talosenv.Cluster
	rows []string
}

// take takes a step. One that fails ends the test: what follows builds on it.
func (l *timeline) take(name string, do func()) {
	l.t.Helper()
	l.t.Logf("=== %s", name)
	begin, used := time.Now(), l.bed.ProcessorTime(l.t)
	do()
	l.rows = append(l.rows, fmt.Sprintf("| %s | %.0f s | %.0f s |", name,
		time.Since(begin).Seconds(), (l.bed.ProcessorTime(l.t)-used).Seconds()))
	if l.t.Failed() {
		l.t.FailNow()
	}
}

// print prints it as a table of Markdown.
func (l *timeline) print() {
	l.t.Logf("the timeline:\n| step | time | processor time of the nodes |\n|---|---|---|\n%s", strings.Join(l.rows, "\n"))
}
