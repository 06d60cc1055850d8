package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
)

// talosconfigCommand gives talosctl access to a cluster.
type talosconfigCommand struct{ access accessWriter }

func (t talosconfigCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "talosconfig",
		Usage:     "write a talosconfig for a cluster",
		ArgsUsage: "<env>",
		Description: `Signs a short-lived client certificate with the authority in rendered/<env>, adds
it as a context to the configuration of talosctl, and makes that the current
context. Other contexts and comments are unchanged. The cluster is not contacted.
Needs a key that can decrypt the tree.

An existing certificate is kept while more than a third of --lifetime is left.
The context names no nodes: a command without --nodes reaches none instead of
all.

Examples:
   talosgen talosconfig prod                    write to ~/.talos/config
   talosgen talosconfig prod --role os:reader   read-only access
   talosgen talosconfig prod -o prod.talosconfig --lifetime 1h
   talosgen talosconfig prod -o - | less        print to stdout`,
		Flags: accessFlags("$TALOSCONFIG, else ~/.talos/config",
			&cli.StringFlag{Name: "role", Usage: "Talos `ROLE`: " + strings.Join(apply.TalosRoles(), ", "), Value: "os:admin"},
			&cli.StringSliceFlag{Name: "endpoints", Usage: "`ADDRESSES` of control plane nodes, in place of those in the tree"},
		),
		Action: func(c *cli.Context) error {
			role := c.String("role")
			return t.access.write(c, talosconfigFile, role, func(env *apply.Environment, r apply.AccessRequest) (*apply.AccessFile, error) {
				return env.Talosconfig(c.Context, r, role, c.StringSlice("endpoints"))
			})
		},
	}
}

// talosconfigFile is the file that talosctl reads.
func talosconfigFile(vars environ) (string, error) {
	if path := vars.get("TALOSCONFIG"); path != "" {
		return path, nil
	}
	return vars.inHome(".talos", "config")
}
