//go:build linux

package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// timeline is what a test did, and how long it took.
type timeline struct {
	t    *testing.T
	rows []string
}

// take takes a step. One that fails ends the test: what follows builds on it.
func (l *timeline) take(name string, do func()) {
	l.t.Helper()
	l.t.Logf("=== %s", name)
	begin := time.Now()
	do()
	l.rows = append(l.rows, fmt.Sprintf("| %s | %.0f s |", name, time.Since(begin).Seconds()))
	if l.t.Failed() {
		l.t.FailNow()
	}
}

// print prints it as a table of Markdown.
func (l *timeline) print() {
	l.t.Logf("the timeline:\n| step | time |\n|---|---|\n%s", strings.Join(l.rows, "\n"))
}
