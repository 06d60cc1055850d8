// Package diag holds problems as values for people: what is wrong, where
// (file:line:column or an object), and what to do about it.
//
// Every package reports through it, so that all problems of a run can be
// collected, ordered and printed at once, and so that the exit code of the
// program follows from the problem and not from where it was noticed.
package diag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Code is a process exit code. The table is part of the command line's
// contract (DESIGN section 5).
type Code int

// Exit codes.
const (
	OK          Code = 0   // done, or in sync
	Differences Code = 1   // differences found (render --check, diff)
	Usage       Code = 2   // the command line is wrong
	Input       Code = 3   // a source file, or a value in it, is invalid
	Secrets     Code = 4   // a secret or a key is missing, wrong or tampered with
	Remote      Code = 5   // something remote failed
	Conflict    Code = 6   // stale plan, or a lock is held
	NotReady    Code = 7   // not ready in time
	Interrupted Code = 130 // SIGINT or SIGTERM
)

// Pos is a place in a file. Line and Column count from 1; 0 means unknown.
type Pos struct {
	File   string
	Line   int
	Column int
}

// String prints file:line:column, leaving out what is unknown.
func (p Pos) String() string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// Problem is one thing that is wrong.
type Problem struct {
	Pos     Pos    // where, if it is in a file
	Object  string // or on what: "node dev-control-plane-1"
	Message string // what is wrong; no capital, no full stop, never a secret
	Hint    string // what to do; may have several lines
	Code    Code   // the exit code it leads to; OK counts as Input
	Err     error  // the cause, for errors.Is; not printed
}

// New makes a problem at a position, for exit code [Input].
func New(pos Pos, format string, args ...any) *Problem {
	return &Problem{Pos: pos, Message: fmt.Sprintf(format, args...), Code: Input}
}

// On makes a problem with an object, for exit code [Input].
func On(object, format string, args ...any) *Problem {
	return &Problem{Object: object, Message: fmt.Sprintf(format, args...), Code: Input}
}

// WithHint sets the hint and returns p.
func (p *Problem) WithHint(format string, args ...any) *Problem {
	p.Hint = fmt.Sprintf(format, args...)
	return p
}

// WithCode sets the exit code and returns p.
func (p *Problem) WithCode(c Code) *Problem {
	p.Code = c
	return p
}

// WithCause sets the cause and returns p.
func (p *Problem) WithCause(err error) *Problem {
	p.Err = err
	return p
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Error prints the place, the message, and the hint on lines of its own.
func (p *Problem) Error() string {
	var b strings.Builder
	if where := cmp.Or(p.Pos.String(), p.Object); where != "" {
		b.WriteString(printable.Line(where) + ": ")
	}
	// A name in a message may have lines: none of them looks like another problem.
	b.WriteString(strings.ReplaceAll(printable.Text(p.Message), "\n", "\n  "))
	for line := range strings.Lines(p.Hint) {
		b.WriteString("\n  " + strings.TrimRight(line, "\n"))
	}
	return b.String()
}

// List collects problems. The zero value is empty and ready to use.
type List []*Problem

// Add appends problems, ignoring nil ones.
func (l *List) Add(problems ...*Problem) {
	for _, p := range problems {
		if p != nil {
			*l = append(*l, p)
		}
	}
}

// AddErr appends an error: the problems in it if it holds any, else a problem
// with its text. Nil is ignored.
func (l *List) AddErr(err error) {
	var list List
	var p *Problem
	switch {
	case err == nil:
	case errors.As(err, &list):
		*l = append(*l, list...)
	case errors.As(err, &p):
		*l = append(*l, p)
	default:
		*l = append(*l, &Problem{Message: err.Error(), Code: Input, Err: err})
	}
}

// Err returns the list as an error, sorted by place and without repetitions,
// or nil if it is empty.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	sorted := slices.Clone(l)
	sorting.By(sorted, func(a, b *Problem) int {
		return cmp.Or(
			strings.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			strings.Compare(a.Object, b.Object))
	})
	return slices.CompactFunc(sorted, func(a, b *Problem) bool { return a.Error() == b.Error() })
}

// Error prints one problem after the other, with a count if there are several.
func (l List) Error() string {
	texts := make([]string, 0, len(l)+1)
	for _, p := range l {
		texts = append(texts, p.Error())
	}
	if len(l) > 1 {
		texts = append(texts, fmt.Sprintf("%d problems", len(l)))
	}
	return strings.Join(texts, "\n")
}

// Unwrap lets errors.Is and errors.As look at every problem.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, p := range l {
		errs[i] = p
	}
	return errs
}

// CodeOf returns the exit code that an error leads to: of several problems the
// highest code (a missing key explains more than what follows from it), and
// [Input] for an error that carries none. Nil gives [OK].
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	var list List
	if errors.As(err, &list) {
		code := OK
		for _, p := range list {
			code = max(code, p.exitCode())
		}
		return code
	}
	var p *Problem
	if errors.As(err, &p) {
		return p.exitCode()
	}
	return Input
}

func (p *Problem) exitCode() Code {
	if p.Code == OK {
		return Input
	}
	return p.Code
}
