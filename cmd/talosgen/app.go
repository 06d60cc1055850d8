package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
)

// Flags that every command has.
const (
	flagRepo   = "repo"
	flagOutput = "output"
)

func newApp(w *world) *cli.App {
	app := &cli.App{
		Name:                 "talosgen",
		Usage:                "Kubernetes clusters on Talos Linux, rendered from Git",
		Version:              version,
		Description:          appDescription,
		Reader:               w.stdin,
		Writer:               w.stdout,
		ErrWriter:            w.stderr,
		EnableBashCompletion: true,
		ExitErrHandler:       func(*cli.Context, error) {}, // main decides the exit code
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagRepo, Aliases: []string{"C"}, Usage: "the repository's `DIR`; default: the nearest one above the current directory"},
		},
		Commands: commands(w),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c.App.Name, c.Args().First(), c.App.Commands)
			}
			return cli.ShowAppHelp(c)
		},
	}
	app.OnUsageError = usageError
	cli.HelpPrinterCustom = printHelp
	cli.VersionPrinter = func(c *cli.Context) { fmt.Fprintln(c.App.Writer, versionText()) }
	prepare(app.Commands)
	return app
}

const appDescription = `talosgen merges SOPS-encrypted secrets, a cluster.env per environment and
patches for all nodes, roles, pools and single nodes into validated Talos
machine configurations, committed to Git with their secrets encrypted.

Exit codes: 0 done or in sync; 1 differences found; 2 wrong usage;
3 invalid input; 4 secrets or keys; 5 remote failure; 6 stale plan or lock held;
7 not ready in time; 130 interrupted.`

// prepare gives each command what urfave/cli does not inherit.
func prepare(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = usageError
		c.HideHelpCommand = true
		if c.ArgsUsage == "" && c.Action != nil {
			c.Action = withoutArguments(c.Action)
		}
		if len(c.Subcommands) > 0 && c.Action == nil {
			c.Action = func(ctx *cli.Context) error {
				if ctx.Args().Present() {
					return unknownCommand(c.HelpName, ctx.Args().First(), c.Subcommands)
				}
				return cli.ShowSubcommandHelp(ctx)
			}
		}
		prepare(c.Subcommands)
	}
}

// withoutArguments refuses arguments, which urfave/cli would ignore.
func withoutArguments(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() > 0 {
			return tooMany(c, 0)
		}
		return action(c)
	}
}

// tooMany is the problem of a command that takes n arguments, and has more.
func tooMany(c *cli.Context, n int) error {
	return diag.On("", "%q is one argument too many", c.Args().Get(n)).
		WithHint("see `%s --help`", c.Command.HelpName).WithCode(diag.Usage)
}

// undefinedFlag is how the flag package begins to say that there is no such flag.
const undefinedFlag = "flag provided but not defined: "

// oneDash is a flag as the flag package writes it, whose names have one dash.
var oneDash = regexp.MustCompile(`(^| )-([a-z][-a-z]+)`)

// usageError reports a wrong command line on stderr, without the whole help.
func usageError(c *cli.Context, err error, _ bool) error {
	name, flags := "talosgen", c.App.Flags
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "talosgen" {
		name, flags = c.Command.HelpName, append(slices.Clip(c.Command.Flags), flags...)
	}
	hint := fmt.Sprintf("see `%s --help`", name)
	text := oneDash.ReplaceAllString(err.Error(), "$1--$2")
	if flag, unknown := strings.CutPrefix(text, undefinedFlag); unknown {
		text = "unknown flag " + flag
		if meant := diag.Nearest(strings.TrimLeft(flag, "-"), flagsOf(flags)); meant != "" {
			hint = "did you mean --" + meant + "?"
		}
	}
	return diag.On("", "%s", text).WithHint("%s", hint).WithCode(diag.Usage)
}

// flagsOf are the long names of flags.
func flagsOf(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	return names
}

func unknownCommand(of, name string, commands []*cli.Command) error {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	hint := diag.Suggest(name, names)
	if hint == "" {
		hint = fmt.Sprintf("see `%s --help`", of)
	}
	return diag.On("", "unknown command %q", name).WithHint("%s", hint).WithCode(diag.Usage)
}

// permute moves flags in front of positional arguments, and those of the
// program in front of the command: urfave/cli v2 takes what follows the first
// positional for another one, without a word.
func permute(app *cli.App, args []string) []string {
	if len(args) == 0 || slices.Contains(args, "--generate-bash-completion") {
		return args
	}
	var global, path, front, positional []string
	flags, commands := app.Flags, app.Commands
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
			own, program := findFlag(flags, arg), findFlag(app.Flags, arg)
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
