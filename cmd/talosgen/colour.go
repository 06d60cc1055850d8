package main

import (
	"strings"

	"github.com/talosgen/talosgen/internal/printable"
)

// Colours of the terminal. NO_COLOR (no-color.org) turns them off.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	bold   = "\x1b[1m"
	reset  = "\x1b[0m"
)

// colours reports whether a stream shows colours: if it is a terminal that knows them
// and NO_COLOR is not set, or if CLICOLOR_FORCE asks for them wherever it goes.
func colours(vars environ, terminal bool) bool {
	if vars.get("NO_COLOR") != "" {
		return false
	}
	if force := vars.get("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return terminal && vars.get("TERM") != "dumb"
}

// signColours are those of the signs that lines of plans and differences begin with.
var signColours = map[string]string{"+": green, "-": red, "~": yellow, "±": yellow, ">": cyan, "!": red}

// wordColours are those of the states that lines of reports begin with.
var wordColours = map[string]string{"ok": green, "warning": yellow, "failed": red, "unknown": yellow}

// titleColours are those of titles, and of the last line of a plan.
var titleColours = map[string]string{"refused:": red, "consent is missing:": yellow, "warnings:": yellow, "disturbs:": yellow, "risks:": yellow}

// painted is a text for people with colours. What others chose in it was made
// printable before.
func painted(text string) string {
	lines := strings.Split(text, "\n")
	unified := strings.HasPrefix(text, "--- ")
	for i, line := range lines {
		if unified {
			lines[i] = paintedDiff(line)
		} else {
			lines[i] = paintedLine(line)
		}
	}
	return strings.Join(lines, "\n")
}

func paintedLine(line string) string {
	rest := strings.TrimLeft(line, " ")
	blank := line[:len(line)-len(rest)]
	first, after, _ := strings.Cut(rest, " ")
	switch {
	case titleColours[line] != "":
		return titleColours[line] + line + reset
	case strings.HasPrefix(line, "Plan: "):
		return bold + line + reset
	case after != "" && signColours[first] != "":
		return blank + signColours[first] + first + reset + " " + after
	case after != "" && blank == "" && wordColours[first] != "":
		return wordColours[first] + first + reset + " " + after
	}
	return line
}

// paintedDiff is a line of a unified diff.
func paintedDiff(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return green + line + reset
	case strings.HasPrefix(line, "-"):
		return red + line + reset
	case strings.HasPrefix(line, "@@"):
		return cyan + line + reset
	}
	return line
}

// printText prints text for people to stdout.
func (o *console) printText(text string) error {
	text = printable.Text(text)
	if o.paints {
		text = painted(text)
	}
	if o.paged([]byte(text)) {
		return nil
	}
	if o.linked {
		text = o.links.linked(text)
	}
	return o.printData([]byte(text))
}

// printDocument prints a text in a format of its own, such as HTML.
func (o *console) printDocument(text string) error { return o.printData([]byte(printable.Text(text))) }

// printReport prints text for people to stdout, in lines that fit the terminal.
func (o *console) printReport(text string) error {
	if !o.shows {
		return o.printText(text)
	}
	return o.printText(fittedTo(text, o.page().columns))
}
