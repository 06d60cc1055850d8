package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// Whoever interrupts a question does not have to answer it first.
func TestInterruptedQuestion(t *testing.T) {
	w, _, stderr := testApp()
	nobody, typing := io.Pipe() // as a terminal on which nothing is typed
	defer typing.Close()
	w.console.stdin = nobody
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if w.console.yes(ctx, "make these changes?") {
		t.Error("it is taken for a yes")
	}
	if answer, err := w.console.readAnswer(ctx); !errors.Is(err, context.Canceled) || answer != "" {
		t.Errorf("the answer is %q, %v", answer, err)
	}
	if want := "make these changes? [y/N] \n\n"; stderr.String() != want {
		t.Errorf("it shows %q, want %q", stderr.String(), want)
	}
}

// What is typed behind an answer is for others, and its end is one without a
// line.
func TestReadAnswer(t *testing.T) {
	w, _, stderr := testApp()
	w.console.stdin = strings.NewReader("dev\nmore")
	if answer, err := w.console.readAnswer(t.Context()); answer != "dev" || err != nil || stderr.String() != "" {
		t.Errorf("the answer is %q, %v; it shows %q", answer, err, stderr)
	}
	if answer, err := w.console.readAnswer(t.Context()); answer != "more" || !errors.Is(err, io.EOF) || stderr.String() != "\n" {
		t.Errorf("the answer is %q, %v; it shows %q", answer, err, stderr)
	}
}
