package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// terminalWidth is the width of a terminal in columns; 0 if it is none.
func terminalWidth(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Colours of the terminal. NO_COLOR (no-color.org) turns them off.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

func (w *world) colour(code, text string) string {
	if no, set := w.lookup("NO_COLOR"); !w.terminal || (set && no != "") || w.dumb() {
		return text
	}
	return code + text + reset
}

// say prints progress and results for people: to stderr, because stdout is for
// data.
func (w *world) say(format string, args ...any) { fmt.Fprintf(w.stderr, format+"\n", args...) }

// printError prints all problems, one below the other.
func (w *world) printError(err error) {
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		w.say("%s %s", w.colour(red, "error:"), p.Error())
	}
	if len(problems) > 1 {
		w.say("%d problems", len(problems))
	}
}

func (w *world) printWarnings(warnings diag.List) {
	var sorted diag.List
	if !errors.As(warnings.Err(), &sorted) {
		return
	}
	for _, p := range sorted {
		w.say("%s %s", w.colour(yellow, "warning:"), p.Error())
	}
}

// printJSON prints data to stdout.
func (w *world) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return w.printData(printable.JSON(b.Bytes()))
}

// printText prints text for people to stdout.
func (w *world) printText(text string) error { return w.printData([]byte(printable.Text(text))) }

// clean is one line of a text, without secrets and without what would control the
// terminal.
func (w *world) clean(text string) string { return printable.Line(w.masker.String(text)) }

// printData prints bytes to stdout.
func (w *world) printData(data []byte) error {
	_, err := w.stdout.Write(data)
	return err
}

// quoteValue shows a value of a configuration on one line.
func quoteValue(v string) string {
	const longest = 72
	if first, _, several := strings.Cut(v, "\n"); several {
		v = first + " ..."
	}
	if r := []rune(v); len(r) > longest {
		v = string(r[:longest]) + "..."
	}
	if v == "" {
		return `""`
	}
	return v
}

// quoteChange shows two different values. If both begin alike and are too long
// to show, it leaves out the beginning: a new version is at the end of an image.
func quoteChange(old, now string) (string, string) {
	before, after := quoteValue(old), quoteValue(now)
	if before != after {
		return before, after
	}
	same := 0
	for same < min(len(old), len(now)) && old[same] == now[same] {
		same++
	}
	const context = 24
	from := max(strings.LastIndexAny(old[:same], " /:,=\n")+1, same-context)
	for from > 0 && !utf8.RuneStart((old + " ")[from]) {
		from--
	}
	return "..." + quoteValue(old[from:]), "..." + quoteValue(now[from:])
}
