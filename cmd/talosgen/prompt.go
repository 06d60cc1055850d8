package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
)

// agree asks on a terminal, unless --yes answers. Without a
// terminal that is an error.
func (o *console) agree(c *cli.Context, view *runView, question string) error {
	if c.Bool(flagYes) {
		return nil
	}
	if !o.answers {
		return diag.On("", "cannot ask without a terminal: %s", question).
			WithHint("--yes answers it").WithCode(diag.Usage)
	}
	view.clear()
	if !o.yes(c.Context, question) {
		return diag.On("", "nothing was changed").WithCode(diag.Differences)
	}
	return nil
}

// yes asks a question, and reports whether the answer is yes.
func (o *console) yes(ctx context.Context, question string) bool {
	fmt.Fprintf(o.stderr, "%s [y/N] ", question)
	answer, err := o.readAnswer(ctx)
	return err == nil && (strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"))
}

// readAnswer waits for a typed line, or for an interrupt.
func (o *console) readAnswer(ctx context.Context) (string, error) {
	answer, err := interruptible(ctx, o.readLine)
	if err != nil {
		o.say("") // the line of the question has no end yet
	}
	return answer, err
}

// readLine reads a line byte by byte: what comes after it is for others.
func (o *console) readLine() (string, error) {
	var answer []byte
	for key := make([]byte, 1); ; {
		n, err := o.stdin.Read(key)
		if n == 1 && key[0] != '\n' {
			answer = append(answer, key[0])
			continue
		}
		if n == 1 || err != nil {
			return strings.TrimSpace(string(answer)), err
		}
	}
}

// interruptible waits for what read returns, or for an interrupt: then read goes on
// until the process ends.
func interruptible(ctx context.Context, read func() (string, error)) (string, error) {
	type line struct {
		text string
		err  error
	}
	typed := make(chan line, 1)
	go func() {
		text, err := read()
		typed <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case l := <-typed:
		return l.text, l.err
	}
}
