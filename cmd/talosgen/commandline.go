package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// Flags that every command has.
const (
	flagRepo   = "repo"
	flagOutput = "output"
)

// newCLI makes the command line of talosgen.
func newCLI(a *app) *cli.App {
	root := &cli.App{
		Name:           "talosgen",
		Usage:          "Kubernetes clusters on Talos Linux from Git",
		Version:        version,
		Description:    appDescription,
		Reader:         a.console.stdin,
		Writer:         a.console.stdout,
		ErrWriter:      a.console.stderr,
		ExitErrHandler: func(*cli.Context, error) {}, // main decides the exit code
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagRepo, Aliases: []string{"C"}, Usage: "the repository's `DIR`; default: the nearest one above the current directory"},
		},
		Commands: commands(a),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c.App.Name, c.Args().First(), c.App.Commands)
			}
			return cli.ShowAppHelp(c)
		},
	}
	root.OnUsageError = usageError
	cli.HelpPrinterCustom = printHelp
	cli.VersionPrinter = func(c *cli.Context) { fmt.Fprintln(c.App.Writer, versionText()) }
	prepare(root.Commands)
	return root
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
