package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
)

// manCommand writes manual pages from what commands say about themselves.
type manCommand struct{ out *console }

func (m manCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "write manual pages",
		ArgsUsage: "<dir>",
		Description: `Writes a page for the program and one for each command into man1 below a directory of
manual pages. Existing pages of the same names are replaced.

Examples:
   talosgen man ~/.local/share/man     then: man talosgen-plan`,
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return diag.On("", "which directory?").WithHint("talosgen man <dir>, such as ~/.local/share/man").WithCode(diag.Usage)
			}
			return m.write(c.App, filepath.Join(c.Args().First(), "man1"))
		},
	}
}

// write writes the pages.
func (m manCommand) write(root *cli.App, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return diag.New(diag.Pos{File: dir}, "cannot be made: %v", reasonOf(err)).WithCause(err)
	}
	pages := manualPages(root)
	for _, p := range pages {
		file := filepath.Join(dir, p.name+".1")
		if _, err := atomicfile.Write(file, []byte(p.text), 0o644); err != nil {
			return diag.New(diag.Pos{File: file}, "cannot be written: %v", reasonOf(err)).WithCause(err)
		}
	}
	m.out.say("wrote %d manual pages to %s", len(pages), dir)
	return nil
}

// manualPage is a page in the language of man(7).
type manualPage struct{ name, text string }

// manualPages are those of the program and of all commands that help lists.
func manualPages(root *cli.App) []manualPage {
	w := &manWriter{}
	w.head(root.Name, root.Usage, root.Name+" [--repo DIR] <command> [options] [arguments]", root.Description)
	w.flags(root.VisibleFlags())
	w.commands([]string{root.Name}, root.VisibleCommands())
	pages := []manualPage{{root.Name, w.String()}}
	return append(pages, pagesOf([]string{root.Name}, root.VisibleCommands())...)
}

func pagesOf(path []string, commands []*cli.Command) (pages []manualPage) {
	for _, c := range commands {
		if c.Name == "help" {
			continue
		}
		names := append(path[:len(path):len(path)], c.Name)
		synopsis := strings.Join(names, " ")
		if len(c.VisibleCommands()) > 0 {
			synopsis += " <command>"
		}
		w := &manWriter{}
		w.head(strings.Join(names, "-"), c.Usage, strings.TrimSpace(synopsis+" [options] "+c.ArgsUsage), c.Description)
		w.flags(c.VisibleFlags())
		w.commands(names, c.VisibleCommands())
		pages = append(pages, manualPage{strings.Join(names, "-"), w.String()})
		pages = append(pages, pagesOf(names, c.Subcommands)...)
	}
	return pages
}

// manWriter writes a page.
type manWriter struct{ strings.Builder }

// roff is a text in which nothing is a request or an escape of roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

func (w *manWriter) head(name, usage, synopsis, description string) {
	fmt.Fprintf(w, ".TH %s 1 \"\" \"talosgen %s\"\n", strings.ToUpper(roff(name)), version)
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n%s\n", roff(name), roff(usage), roff(synopsis))
	if description == "" {
		return
	}
	w.WriteString(".SH DESCRIPTION\n.nf\n")
	for _, line := range strings.Split(description, "\n") {
		w.WriteString(roff(line) + "\n")
	}
	w.WriteString(".fi\n")
}

func (w *manWriter) flags(flags []cli.Flag) {
	for i, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		if i == 0 {
			w.WriteString(".SH OPTIONS\n")
		}
		var names []string
		for _, name := range f.Names() {
			names = append(names, strings.Repeat("-", min(len(name), 2))+name)
		}
		value, usage := "", doc.GetUsage()
		if before, rest, found := strings.Cut(usage, "`"); found && doc.TakesValue() {
			placeholder, after, _ := strings.Cut(rest, "`")
			value, usage = " "+placeholder, before+placeholder+after
		}
		fmt.Fprintf(w, ".TP\n\\fB%s\\fR%s\n%s\n", roff(strings.Join(names, ", ")), roff(value), roff(usage))
	}
}

func (w *manWriter) commands(path []string, commands []*cli.Command) {
	for i, c := range commands {
		if c.Name == "help" {
			continue
		}
		if i == 0 {
			w.WriteString(".SH COMMANDS\n")
		}
		fmt.Fprintf(w, ".TP\n\\fB%s\\fR(1)\n%s\n", roff(strings.Join(append(path[:len(path):len(path)], c.Name), "-")), roff(c.Usage))
	}
}
