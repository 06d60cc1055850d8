package main

import (
	"github.com/urfave/cli/v2"
)

// poolCommand lists and changes the pools of an environment.
type poolCommand struct {
	ws  workspace
	out *console
}

// flagDeletePatches deletes what patches a change leaves without a node.
const flagDeletePatches = "delete-patches"

func (p poolCommand) command() *cli.Command {
	return &cli.Command{
		Name: "pool", Usage: "list and change the pools of an environment",
		Description: `Changes the pools in envs/<env>/cluster.yaml, keeps its comments and layout, and
renders. Existing nodes keep their names and addresses: new ones get free offsets
and indexes.

Examples:
   talosgen pool list dev
   talosgen pool add dev db --type ccx23 --count 3
   talosgen pool scale dev worker 5
   talosgen pool remove dev worker --node dev-worker-2`,
		Subcommands: []*cli.Command{
			p.listCommand(), p.addCommand(), p.scaleCommand(), p.removeCommand(), p.placeCommand(),
		},
	}
}

func (p poolCommand) listCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the pools, their nodes and addresses", ArgsUsage: "<env>",
		Description: `Needs no keys.

Example:
   talosgen pool list dev -o json`,
		Flags:  []cli.Flag{outputFlag()},
		Action: p.list,
	}
}

func (p poolCommand) addCommand() *cli.Command {
	return &cli.Command{
		Name: "add", Usage: "add a pool of workers or control planes", ArgsUsage: "<env> <pool>",
		Description: `Adds a pool behind the others, at a free offset of addresses. With --max it is a
pool of the autoscaler.

Examples:
   talosgen pool add dev db --type ccx23 --count 3 --location fsn1 \
      --label example.com/tier=db --taint example.com/dedicated=db:NoSchedule
   talosgen pool add dev burst --type cpx32 --min 0 --max 10
   talosgen pool add dev web --type cpx22 --dry-run
   talosgen pool add prod arm --control-plane --type cax21 --count 2`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "type", Usage: "server `TYPE`"},
			&cli.IntFlag{Name: "count", Usage: "`NUMBER` of nodes", Value: 1},
			&cli.BoolFlag{Name: "control-plane", Usage: "add a pool of control plane nodes"},
			&cli.StringFlag{Name: "location", Usage: "`LOCATION` of the servers; default: hetzner.region"},
			&cli.StringSliceFlag{Name: "label", Usage: "Kubernetes label `KEY=VALUE` (repeatable)"},
			&cli.StringSliceFlag{Name: "annotation", Usage: "Kubernetes annotation `KEY=VALUE` (repeatable)"},
			&cli.StringSliceFlag{Name: "taint", Usage: "Kubernetes taint `KEY=VALUE:EFFECT` (repeatable)"},
			&cli.StringFlag{Name: "subnet", Usage: "own subnet of the pool, a `CIDR` in network.nodeCidrs"},
			&cli.BoolFlag{Name: "placement-group", Usage: "spread the servers over physical hosts", Value: true},
			&cli.IntFlag{Name: "min", Usage: "minimum `NUMBER` of servers of the autoscaler"},
			&cli.IntFlag{Name: "max", Usage: "maximum `NUMBER` of servers of the autoscaler"},
		}, changeFlags()...),
		Action: p.add,
	}
}

func (p poolCommand) scaleCommand() *cli.Command {
	return &cli.Command{
		Name: "scale", Usage: "change the number of nodes of a pool", ArgsUsage: "<env> <pool> [<count>]",
		Description: `New nodes get the lowest free indexes; nodes with the highest indexes are removed
first. The first pool of control planes is named control-plane. For a pool of the autoscaler,
set --min or --max.

Examples:
   talosgen pool scale dev worker 5
   talosgen pool scale prod control-plane 5
   talosgen pool scale prod burst --max 20`,
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "min", Usage: "minimum `NUMBER` of servers of the autoscaler"},
			&cli.IntFlag{Name: "max", Usage: "maximum `NUMBER` of servers of the autoscaler"},
		}, removalFlags()...),
		Action: p.scale,
	}
}

func (p poolCommand) removeCommand() *cli.Command {
	return &cli.Command{
		Name: "remove", Usage: "remove a pool or some of its nodes", ArgsUsage: "<env> <pool>",
		Description: `--node removes only that node. The others keep their indexes, which the file
lists from then on. Static nodes can be removed too. Patches of what is removed, below
envs/<env>/patches/pools and nodes, are deleted with --delete-patches.

Examples:
   talosgen pool remove dev db
   talosgen pool remove dev worker --node dev-worker-2`,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "node", Usage: "remove only the node `NAME` (repeatable)"},
		}, removalFlags()...),
		Action: p.remove,
	}
}

func (p poolCommand) placeCommand() *cli.Command {
	return &cli.Command{
		Name: "place", Usage: "assign free address offsets to pools", ArgsUsage: "<env> [<pool>]",
		Description: `The addresses of a pool begin at its offset. If two branches have chosen the same
one, name the pool that has no servers yet: it gets another. Without a pool, the
offsets that the file omits are written to it: the present one, or a free one if
pools share addresses.

Examples:
   talosgen pool place dev db
   talosgen pool place dev`,
		Flags:  changeFlags(),
		Action: p.place,
	}
}

// changeFlags are flags of all commands that change pools.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: flagDryRun, Usage: "print the diff and write nothing; exits 1 if there is one"},
		&cli.BoolFlag{Name: "no-render", Usage: "write only cluster.yaml; needs no keys"},
	}
}

// removalFlags are flags of the commands that may remove nodes.
func removalFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: flagDeletePatches, Usage: "delete patches of the pools and nodes that are removed"},
	}, changeFlags()...)
}
