package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/sorting"
)

const (
	// helpWidth is how wide help is, whatever the terminal: it is read in files
	// and pages too.
	helpWidth = 80
	// helpColumn is where what is said of a flag begins.
	helpColumn = 30
	helpIndent = "   "
)

// printHelp writes help in place of urfave/cli, whose lines are as long as what
// they hold.
func printHelp(out io.Writer, _ string, about any, _ map[string]any) {
	h := &helpText{}
	switch about := about.(type) {
	case *cli.App:
		h.section("NAME", about.Name+" - "+about.Usage)
		h.section("USAGE", about.Name+" [--repo DIR] <command> [options] [arguments]")
		h.section("DESCRIPTION", about.Description)
		h.commands(about.VisibleCommands())
		h.flags("OPTIONS", about.VisibleFlags())
	case *cli.Command:
		h.section("NAME", about.HelpName+" - "+about.Usage)
		h.section("USAGE", usageLine(about))
		h.section("DESCRIPTION", about.Description)
		h.commands(about.VisibleCommands())
		h.flags("OPTIONS", about.VisibleFlags())
	}
	_, _ = io.WriteString(out, strings.TrimPrefix(h.String(), "\n")) // there is no other output
}

func usageLine(c *cli.Command) string {
	line := c.HelpName
	if len(c.VisibleCommands()) > 0 {
		line += " <command>"
	}
	return strings.TrimSpace(line + " [options] " + c.ArgsUsage)
}

// helpText is help that is being written.
type helpText struct{ strings.Builder }

func (h *helpText) line(text string) { h.WriteString(strings.TrimRight(text, " ") + "\n") }

func (h *helpText) section(title, text string) {
	if text == "" {
		return
	}
	h.line("")
	h.line(title + ":")
	for _, line := range reflow(text, helpWidth-len(helpIndent)) {
		h.line(helpIndent + line)
	}
}

// commands lists commands by their category.
func (h *helpText) commands(all []*cli.Command) {
	last, column := "", 0
	for _, c := range all {
		column = max(column, len(helpIndent)+len(c.Name)+2)
	}
	for i, c := range all {
		if c.Name == "help" { // the flag is listed
			continue
		}
		if i == 0 || c.Category != last {
			h.line("")
			h.line(strings.ToUpper(cmp.Or(c.Category, "commands")) + ":")
			last = c.Category
		}
		h.entry(c.Name, c.Usage, column)
	}
}

func (h *helpText) flags(title string, flags []cli.Flag) {
	if len(flags) == 0 {
		return
	}
	h.line("")
	h.line(title + ":")
	for _, f := range flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			h.entry(flagNames(doc), flagUsage(doc), helpColumn)
		}
	}
}

// entry says something of a name: beside it, or below one that is long.
func (h *helpText) entry(name, text string, column int) {
	name = helpIndent + name
	lines := reflow(text, helpWidth-column)
	if utf8.RuneCountInString(name) > column-2 {
		h.line(name)
		name = ""
	}
	for _, line := range lines {
		h.line(fmt.Sprintf("%-*s%s", column, name, line))
		name = ""
	}
}

// placeholder is the word in the usage of a flag that stands for its value.
var placeholder = regexp.MustCompile("`([^`]*)`")

// flagNames are the names of a flag, with what stands for its value.
func flagNames(f cli.DocGenerationFlag) string {
	var names []string
	for _, name := range f.Names() {
		dashes := "--"
		if len(name) == 1 {
			dashes = "-"
		}
		names = append(names, dashes+name)
	}
	sorting.By(names, func(a, b string) int { return len(a) - len(b) }) // -o, --output
	text := strings.Join(names, ", ")
	if f.TakesValue() {
		value := "VALUE"
		if found := placeholder.FindStringSubmatch(f.GetUsage()); found != nil {
			value = found[1]
		}
		text += " " + value
	}
	return text
}

// flagUsage is what a flag is for, and what it is without it.
func flagUsage(f cli.DocGenerationFlag) string {
	usage := placeholder.ReplaceAllString(f.GetUsage(), "$1")
	if without := strings.Trim(f.GetDefaultText(), `"`); f.TakesValue() && without != "" && without != "[]" {
		usage += " (default: " + without + ")"
	}
	return usage
}

// reflow breaks text into lines of some width. Lines that are indented stay as
// they are: examples, and lists.
func reflow(text string, width int) (lines []string) {
	var words []string // of the paragraph
	flush := func() {
		lines = append(lines, fill(words, width)...)
		words = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == ' ' {
			flush()
			lines = append(lines, line)
			continue
		}
		words = append(words, strings.Fields(line)...)
		if strings.HasSuffix(line, ":") { // what follows is its list
			flush()
		}
	}
	flush()
	return lines
}

// fill puts words on lines. The last line has more than one word, if there are
// others to join it.
func fill(words []string, width int) (lines []string) {
	var rows [][]string
	room := 0
	for _, word := range words {
		n := utf8.RuneCountInString(word) + 1
		if room -= n; room < 0 || len(rows) == 0 {
			rows, room = append(rows, nil), width+1-n
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], word)
	}
	if last := len(rows) - 1; last > 0 && len(rows[last]) == 1 && len(rows[last-1]) > 2 {
		before := rows[last-1]
		rows[last-1], rows[last] = before[:len(before)-1], []string{before[len(before)-1], rows[last][0]}
	}
	for _, row := range rows {
		lines = append(lines, strings.Join(row, " "))
	}
	return lines
}
