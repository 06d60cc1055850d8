package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/summary"
)

// commands are what may follow a command, for the same environment. Nothing
// follows a try: what it made is gone.
func (s *session) commands(c *cli.Context) summary.Commands {
	if c.Command.Name == nameTry {
		return summary.Commands{}
	}
	return summary.Commands{
		Again: func(more ...string) string { return commandLine(append(withoutPlan(s.args), more...)) },
		Of: func(name string, more ...string) string {
			words := append(append([]string{"talosgen"}, strings.Fields(name)...), s.env.Name())
			words = append(words, more...)
			return commandLine(append(words, connecting(c, name)...))
		},
	}
}

// connectingFlags say where a cluster is, and how it is reached.
var connectingFlags = []string{flagRepo, flagAllowDirty, flagEndpoint, flagEndpoints, flagSSHKey}

// connecting are those of them that were given, and that another command has
// too. That of a part of a command is its words.
func connecting(c *cli.Context, name string) (args []string) {
	var command *cli.Command
	commands := c.App.Commands
	for _, word := range strings.Fields(name) {
		if command = findCommand(commands, word); command != nil {
			commands = command.Subcommands
		}
	}
	if command == nil {
		return nil
	}
	flags := append(slices.Clone(c.App.Flags), command.Flags...)
	for _, flag := range connectingFlags {
		f := findFlag(flags, flag)
		switch {
		case f == nil || !c.IsSet(flag):
		case flag == flagAllowDirty && strings.HasPrefix(name, nameAccess): // it reads the tree as it is
		case !f.TakesValue():
			args = append(args, "--"+flag)
		case c.StringSlice(flag) != nil:
			for _, value := range c.StringSlice(flag) {
				args = append(args, "--"+flag, value)
			}
		default:
			args = append(args, "--"+flag, c.String(flag))
		}
	}
	return args
}

// withoutPlan is a command line without the plan that was kept: once a part of it
// is done, it is stale.
func withoutPlan(args []string) []string {
	kept := []string{"talosgen"}
	for i := 1; i < len(args); i++ {
		switch name, _, joined := strings.Cut(args[i], "="); {
		case strings.TrimLeft(name, "-") != "plan" || !strings.HasPrefix(name, "-"):
			kept = append(kept, args[i])
		case !joined:
			i++
		}
	}
	return kept
}

// plainWord is a word that no shell takes for more than a word.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// commandLine writes words as a line for a shell.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; !plainWord.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
