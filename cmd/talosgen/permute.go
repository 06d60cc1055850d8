package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// permute moves flags in front of positional arguments, and those of the
// program in front of the command: urfave/cli v2 takes what follows the first
// positional for another one, without a word.
func permute(root *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	var global, path, front, positional []string
	flags, commands := root.Flags, root.Commands
	rest := args[1:]
	for len(rest) > 0 {
		arg := rest[0]
		if arg == "--" {
			positional = append(positional, rest[1:]...)
			break
		}
		n := 1
		switch command := findCommand(commands, arg); {
		case strings.HasPrefix(arg, "-") && arg != "-":
			own, program := findFlag(flags, arg), findFlag(root.Flags, arg)
			if f := cmp.Or(own, program); f != nil && takesValue(f, arg) {
				n = 2
			}
			if n > len(rest) { // it would take what is moved behind it for its value
				if own == nil {
					return []string{args[0], arg}
				}
				return slices.Concat(args[:1], global, path, front, rest)
			}
			if own == nil && program != nil || len(path) == 0 {
				global = append(global, rest[:n]...)
			} else {
				front = append(front, rest[:n]...)
			}
		case command != nil && len(positional) == 0:
			path = append(path, arg)
			flags, commands = command.Flags, command.Subcommands
		default:
			positional = append(positional, arg)
			commands = nil
		}
		rest = rest[n:]
	}
	out := slices.Concat(args[:1], global, path, front)
	if asksForHelp(global) || asksForHelp(front) {
		return out // it would look for help on the arguments
	}
	if len(positional) > 0 {
		out = append(out, "--")
	}
	return append(out, positional...)
}

func asksForHelp(flags []string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return f == "-h" || f == "--help" || f == "-help" })
}

func findCommand(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// findFlag returns the flag that an argument such as -o or --output=json sets.
func findFlag(flags []cli.Flag, arg string) cli.DocGenerationFlag {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	for _, f := range flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok && slices.Contains(f.Names(), name) {
			return doc
		}
	}
	return nil
}

// takesValue reports whether the argument after a flag belongs to it.
func takesValue(f cli.DocGenerationFlag, arg string) bool {
	return f.TakesValue() && !strings.Contains(arg, "=")
}
