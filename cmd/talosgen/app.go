package main

import (
	"fmt"
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
		Commands: []*cli.Command{
			renderCommand(w), diffCommand(w), explainCommand(w), showCommand(w),
			secretsCommand(w), convertCommand(w), schemaCommand(w), versionCommand(w), completionCommand(w),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c.Args().First(), c.App.Commands)
			}
			return cli.ShowAppHelp(c)
		},
	}
	app.OnUsageError = usageError
	cli.VersionPrinter = func(c *cli.Context) { fmt.Fprintln(c.App.Writer, versionText()) }
	prepare(app.Commands)
	return app
}

const appDescription = `talosgen merges SOPS-encrypted secrets, a cluster.env per environment and
patches for all nodes, roles, pools and single nodes into validated Talos
machine configurations, committed to Git with their secrets encrypted.

Exit codes: 0 done or in sync; 1 differences found; 2 wrong usage;
3 invalid input; 4 secrets or keys; 130 interrupted.`

// prepare gives each command what urfave/cli does not inherit.
func prepare(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = usageError
		c.HideHelpCommand = true
		if len(c.Subcommands) > 0 && c.Action == nil {
			c.Action = func(ctx *cli.Context) error {
				if ctx.Args().Present() {
					return unknownCommand(ctx.Args().First(), c.Subcommands)
				}
				return cli.ShowSubcommandHelp(ctx)
			}
		}
		prepare(c.Subcommands)
	}
}

// usageError reports a wrong command line on stderr, without the whole help.
func usageError(c *cli.Context, err error, _ bool) error {
	name := "talosgen"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "talosgen" {
		name = c.Command.HelpName
	}
	return diag.On("", "%v", err).WithHint("see `%s --help`", name).WithCode(diag.Usage)
}

func unknownCommand(name string, commands []*cli.Command) error {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	hint := diag.Suggest(name, names)
	if hint == "" {
		hint = "commands: " + strings.Join(names, ", ")
	}
	return diag.On("", "unknown command %q", name).WithHint("%s", hint).WithCode(diag.Usage)
}

// permute moves flags in front of positional arguments: urfave/cli v2 takes
// what follows the first positional for another one, without a word.
func permute(app *cli.App, args []string) []string {
	if len(args) == 0 || slices.Contains(args, "--generate-bash-completion") {
		return args
	}
	out := []string{args[0]}
	flags, commands := app.Flags, app.Commands
	rest := args[1:]
	for {
		taken, name := takeFlags(rest, flags)
		out = append(out, rest[:taken]...)
		rest = rest[taken:]
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
		if name == "" || i < 0 {
			break
		}
		out = append(out, rest[0])
		rest = rest[1:]
		flags, commands = commands[i].Flags, commands[i].Subcommands
		if len(commands) == 0 {
			break
		}
	}
	front, positional := split(rest, flags)
	out = append(out, front...)
	if len(positional) > 0 {
		out = append(out, "--")
	}
	return append(out, positional...)
}

// takeFlags returns how many leading arguments are flags with their values,
// and the argument that follows them.
func takeFlags(args []string, flags []cli.Flag) (n int, next string) {
	for n < len(args) && strings.HasPrefix(args[n], "-") && args[n] != "--" {
		if takesValue(args[n], flags) && n+1 < len(args) {
			n++
		}
		n++
	}
	if n < len(args) {
		next = args[n]
	}
	return n, next
}

// split separates flags with their values from positional arguments.
func split(args []string, flags []cli.Flag) (front, positional []string) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return front, append(positional, args[i+1:]...)
		case strings.HasPrefix(arg, "-") && arg != "-":
			front = append(front, arg)
			if takesValue(arg, flags) && i+1 < len(args) {
				i++
				front = append(front, args[i])
			}
		default:
			positional = append(positional, arg)
		}
	}
	return front, positional
}

// takesValue reports whether the argument after a flag belongs to it.
func takesValue(arg string, flags []cli.Flag) bool {
	name := strings.TrimLeft(arg, "-")
	if strings.Contains(name, "=") {
		return false
	}
	for _, f := range flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok && slices.Contains(f.Names(), name) {
			return doc.TakesValue()
		}
	}
	return false
}
