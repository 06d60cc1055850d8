package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/internal/secret"
)

// console is where a command reads, writes and asks: data goes to stdout,
// everything else to stderr.
type console struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	screen         io.Writer   // stderr, for what moves on it and prints no foreign text as it is
	terminal       bool        // stderr is one
	shows          bool        // stdout is one
	answers        bool        // stdin is one: a person can answer
	size           func() size // of the terminal that stderr is
	page           func() size // of the terminal that stdout is
	coloured, live bool        // stderr shows colours, and can move its cursor
	paints         bool        // stdout shows colours
	masker         *secret.Masker
	links          *links // to files that texts name; nil: none
	linked         bool   // stdout shows links
	part           bool   // what is printed becomes a part of something else
	pager          pager  // for what is longer than stdout's terminal
}

// isTerminal reports whether a file is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// isScreen reports whether a file is a terminal that shows what is written to it as other
// terminals do.
func isScreen(f *os.File) bool { return isTerminal(f) && knowsSequences(f) }

// terminalSize is the size of a terminal; zero if it is none.
func terminalSize(f *os.File) size {
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return size{}
	}
	return size{columns, rows}
}

// protect lets whatever is written to stderr pass the masker, panics included, and
// lets nothing control a terminal or a CI but what is ours.
func (o *console) protect(vars environ) {
	o.coloured, o.paints = colours(vars, o.terminal), colours(vars, o.shows)
	var allowed []string
	if o.coloured {
		allowed = []string{red, green, yellow, cyan, bold, reset}
	}
	o.live = o.terminal && vars.get("TERM") != "dumb"
	o.linked = opensLinks(vars, o.shows)
	stderr := o.stderr
	if opensLinks(vars, o.terminal) {
		stderr = linkWriter{stderr, o.links}
	}
	o.screen, o.stderr = o.masker.Writer(o.stderr), o.masker.Writer(printable.Writer(stderr, allowed...))
}

func (o *console) colour(code, text string) string {
	if !o.coloured {
		return text
	}
	return code + text + reset
}

// say prints progress and results for people: to stderr, because stdout is for
// data.
func (o *console) say(format string, args ...any) { fmt.Fprintf(o.stderr, format+"\n", args...) }

// fitted is a text in lines that fit the terminal that stderr is.
func (o *console) fitted(text string) string {
	if !o.terminal {
		return text
	}
	return fittedTo(text, o.size().columns)
}

// note prints what is worth knowing, and no problem.
func (o *console) note(format string, args ...any) {
	o.say("%s", o.fitted(o.colour(yellow, "note:")+" "+fmt.Sprintf(format, args...)))
}

// warn prints a warning.
func (o *console) warn(format string, args ...any) {
	o.say("%s", o.fitted(o.colour(yellow, "warning:")+" "+fmt.Sprintf(format, args...)))
}

// printError prints all problems, one below the other.
func (o *console) printError(err error) {
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		o.say("%s", o.fitted(o.colour(red, "error:")+" "+p.Error()))
	}
	if len(problems) > 1 {
		o.say("%d problems", len(problems))
	}
}

func (o *console) printWarnings(warnings diag.List) {
	var sorted diag.List
	if !errors.As(warnings.Err(), &sorted) {
		return
	}
	for _, p := range sorted {
		o.say("%s", o.fitted(o.colour(yellow, "warning:")+" "+p.Error()))
	}
}

// printedHook lets a test see what is printed for programs.
var printedHook func(v any, text []byte)

// printValue prints data for programs to stdout, in JSON or as the command's flag says.
func (o *console) printValue(c *cli.Context, v any) error {
	text, err := plan.Encode(v)
	if err != nil {
		return err
	}
	if printedHook != nil {
		printedHook(v, text)
	}
	if o.format(c) != yamlFormat {
		return o.printData(printable.JSON(text))
	}
	if text, err = yamlOf(text); err != nil {
		return err
	}
	return o.printData([]byte(printable.Text(string(text))))
}

// format is the format that a command was asked for; of one of several commands, whose
// data become a part of another's, always JSON for programs.
func (o *console) format(c *cli.Context) string {
	if o.part && forPrograms(c) {
		return jsonFormat
	}
	return c.String(flagOutput)
}

// printData prints bytes to stdout.
func (o *console) printData(data []byte) error {
	_, err := o.stdout.Write(data)
	return err
}

// clean is one line of a text, without secrets and without what would control the
// terminal.
func (o *console) clean(text string) string { return printable.Line(o.masker.String(text)) }

// isSecret reports whether a secret that was decrypted, or given, is in a value.
func (o *console) isSecret(value string) bool { return o.masker.String(value) != value }
