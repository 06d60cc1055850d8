package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeWord is what the scripts of shells ask talosgen with: the words of a line so
// far follow, the last of them the one that is to be completed, empty or not.
const completeWord = "__complete"

// completer says what can stand at the end of a line.
type completer struct {
	root *cli.App
	ws   workspace
	out  io.Writer
}

// asks reports whether the command line is a question of a shell.
func (completer) asks(args []string) bool { return len(args) > 2 && args[1] == completeWord }

// answer prints what can stand in the place of the last word, one on each line;
// nothing for what is not known, such as names of files.
func (p completer) answer(words []string) {
	l := p.read(words)
	for _, text := range p.candidates(l) {
		if strings.HasPrefix(text, l.current) {
			fmt.Fprintln(p.out, text)
		}
	}
}

// typedLine is a line as far as it was typed.
type typedLine struct {
	command    *cli.Command // nil: none yet
	flags      []cli.Flag
	commands   []*cli.Command
	positional []string
	repo       string
	flag       string // whose value is to be completed; empty: none
	current    string
}

// read reads what was typed before the current word.
func (p completer) read(words []string) *typedLine {
	last := len(words) - 1
	l := &typedLine{flags: p.root.Flags, commands: p.root.Commands, current: words[last]}
	for _, word := range words[:last] {
		if word != "=" { // bash takes it for a word of its own
			l.add(word)
		}
	}
	if name, value, found := strings.Cut(l.current, "="); l.current == "=" || l.current == `""` { // as bash and PowerShell say it
		l.current = ""
	} else if found && l.flag == "" && strings.HasPrefix(name, "-") {
		l.add(name)
		l.current = value
	}
	return l
}

func (l *typedLine) add(word string) {
	if l.flag != "" {
		if l.flag == flagRepo {
			l.repo = word
		}
		l.flag = ""
		return
	}
	if strings.HasPrefix(word, "-") {
		if f := findFlag(l.flags, word); f != nil && takesValue(f, word) {
			l.flag = f.(cli.Flag).Names()[0]
		}
		return
	}
	if c := findCommand(l.commands, word); c != nil && len(l.positional) == 0 {
		l.command, l.flags, l.commands = c, append(slices.Clone(c.Flags), l.flags...), c.Subcommands
		return
	}
	l.positional = append(l.positional, word)
}

// candidates are what can stand there, whatever the current word begins with.
func (p completer) candidates(l *typedLine) (texts []string) {
	switch {
	case l.flag != "":
		return p.values(l)
	case strings.HasPrefix(l.current, "-"):
		for _, f := range l.flags {
			if v, ok := f.(cli.VisibleFlag); !ok || v.IsVisible() {
				texts = append(texts, "--"+f.Names()[0])
			}
		}
		return append(texts, "--help")
	case len(l.commands) > 0 && len(l.positional) == 0:
		for _, c := range l.commands {
			if !c.Hidden {
				texts = append(texts, c.Name)
			}
		}
		return texts
	case l.command == nil || len(l.commands) > 0:
		return nil
	}
	return p.arguments(l)
}

// arguments are what the next argument of a command can be, by its name.
func (p completer) arguments(l *typedLine) []string {
	names := strings.Fields(l.command.ArgsUsage)
	n := len(l.positional)
	if n >= len(names) && len(names) > 0 && strings.HasSuffix(names[len(names)-1], "...") {
		n = len(names) - 1
	}
	if n >= len(names) {
		return nil
	}
	switch name := strings.Trim(strings.TrimSuffix(names[n], "..."), "[]<>"); name {
	case "env", "env|dir":
		return p.environments(l)
	case "node":
		return p.nodes(l)
	case "pool":
		return p.pools(l)
	default:
		if strings.Contains(name, "|") {
			return strings.Split(name, "|")
		}
	}
	return nil
}

// context is one in which the repository can be opened that the line names.
func (p completer) context(l *typedLine) *cli.Context {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.String(flagRepo, l.repo, "")
	return cli.NewContext(p.root, set, nil)
}
