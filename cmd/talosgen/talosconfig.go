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
		Name:         "talosconfig",
		Usage:        "give talosctl access to a cluster",
		ArgsUsage:    "<env>",
		BashComplete: t.access.trees.ws.completeEnvironments(false),
		Description: `Signs a short-lived client certificate with the authority in rendered/<env>, and
writes it as a context into the configuration of talosctl, which becomes the
current one. Other contexts and comments stay. It asks nothing of the cluster,
and needs a key that can decrypt the tree.

A certificate that is there already stays while more than a third of --lifetime
is left. The context names no nodes: a command that forgets --nodes reaches none
instead of all.

Examples:
   talosgen talosconfig prod                    into ~/.talos/config
   talosgen talosconfig prod --role os:reader   only for looking
   talosgen talosconfig prod -o prod.talosconfig --lifetime 1h
   talosgen talosconfig prod -o - | less        alone, on stdout`,
		Flags: accessFlags("$TALOSCONFIG, else ~/.talos/config",
			&cli.StringFlag{Name: "role", Usage: "`ROLE` of Talos: " + strings.Join(apply.TalosRoles(), ", "), Value: "os:admin"},
			&cli.StringSliceFlag{Name: "endpoints", Usage: "`ADDRESSES` of control planes to use instead of those in the tree"},
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
