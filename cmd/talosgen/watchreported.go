package main

import (
	"strings"
	"unicode"

	"github.com/talosgen/talosgen/internal/diag"
)

// watchReported remembers what others were told last of the healing of a watch: a failure
// that stays the same is told once, and not every turn.
type watchReported struct {
	failure string // what failed; empty: it is well, as far as others know
}

// failing reports whether others know that healing fails.
func (w *watchReported) failing() bool { return w.failure != "" }

// knows reports whether others know already that a run ended so.
func (w *watchReported) knows(err error) bool { return w.failing() && failureOf(err) == w.failure }

// report notes that others were told how a run ended.
func (w *watchReported) report(err error) { w.failure = failureOf(err) }

// failureOf is what failed, the same for each turn: what an error is about, with its text
// but for numbers, such as times and ids of requests.
func failureOf(err error) string {
	if err == nil {
		return ""
	}
	var problems diag.List
	problems.AddErr(err)
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.Object + ": " + strings.Map(withoutDigits, p.Message) + "\n")
	}
	return b.String()
}

func withoutDigits(r rune) rune {
	if unicode.IsDigit(r) {
		return -1
	}
	return r
}
