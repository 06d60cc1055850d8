package main

import (
	"github.com/urfave/cli/v2"
)

// poolCommand lists and changes the pools of an environment.
type poolCommand struct {
	ws  workspace
	out *console
}

func (p poolCommand) command() *cli.Command {
	command := &cli.Command{
		Name: "pool", Usage: "list and change the pools of an environment",
		Description: `Changes the pools in envs/<env>/cluster.yaml, with its comments and layout
kept, and renders. A node that stays keeps its name and its address: offsets and
indexes are picked from those that are free.

Examples:
   talosgen pool list dev
   talosgen pool add dev db --type ccx23 --count 3
   talosgen pool scale dev worker 5
   talosgen pool remove dev worker --node dev-worker-2`,
		Subcommands: []*cli.Command{
			p.listCommand(), p.addCommand(), p.scaleCommand(), p.removeCommand(), p.placeCommand(),
		},
	}
	for _, c := range command.Subcommands {
		c.BashComplete = p.complete
	}
	return command
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
		Name: "add", Usage: "add a pool of workers", ArgsUsage: "<env> <pool>",
		Description: `Adds the pool behind the others, at an offset of addresses that is free. With
--max it is a pool of the autoscaler.

Examples:
   talosgen pool add dev db --type ccx23 --count 3 --location fsn1 \
      --label example.com/tier=db --taint example.com/dedicated=db:NoSchedule
   talosgen pool add dev burst --type cpx32 --min 0 --max 10
   talosgen pool add dev web --type cpx22 --dry-run`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "type", Usage: "the server `TYPE`"},
			&cli.IntFlag{Name: "count", Usage: "how many nodes", Value: 1},
			&cli.StringFlag{Name: "location", Usage: "where the servers are; default: hetzner.region"},
			&cli.StringSliceFlag{Name: "label", Usage: "a Kubernetes label, `KEY=VALUE` (repeatable)"},
			&cli.StringSliceFlag{Name: "annotation", Usage: "a Kubernetes annotation, `KEY=VALUE` (repeatable)"},
			&cli.StringSliceFlag{Name: "taint", Usage: "a Kubernetes taint, `KEY=VALUE:EFFECT` (repeatable)"},
			&cli.StringFlag{Name: "subnet", Usage: "a subnet of the pool's own, a `CIDR` in network.nodeCidrs"},
			&cli.BoolFlag{Name: "placement-group", Usage: "spread the servers over hosts", Value: true},
			&cli.IntFlag{Name: "min", Usage: "how few servers the autoscaler keeps"},
			&cli.IntFlag{Name: "max", Usage: "how many servers the autoscaler makes at most"},
		}, changeFlags()...),
		Action: p.add,
	}
}

func (p poolCommand) scaleCommand() *cli.Command {
	return &cli.Command{
		Name: "scale", Usage: "change how many nodes a pool has", ArgsUsage: "<env> <pool> [<count>]",
		Description: `New nodes get the lowest indexes that are free, and the highest go first. The
control plane is the pool control-plane. For a pool of the autoscaler, give --min
or --max.

Examples:
   talosgen pool scale dev worker 5
   talosgen pool scale prod control-plane 5
   talosgen pool scale prod burst --max 20`,
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "min", Usage: "how few servers the autoscaler keeps"},
			&cli.IntFlag{Name: "max", Usage: "how many servers the autoscaler makes at most"},
		}, changeFlags()...),
		Action: p.scale,
	}
}

func (p poolCommand) removeCommand() *cli.Command {
	return &cli.Command{
		Name: "remove", Usage: "remove a pool, or nodes of it", ArgsUsage: "<env> <pool>",
		Description: `With --node only that node goes, be it in the middle: the others keep their
indexes, which are listed in the file from then on. Static nodes can be removed
too.

Examples:
   talosgen pool remove dev db
   talosgen pool remove dev worker --node dev-worker-2`,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "node", Usage: "remove the node `NAME` only (repeatable)"},
		}, changeFlags()...),
		Action: p.remove,
	}
}

func (p poolCommand) placeCommand() *cli.Command {
	return &cli.Command{
		Name: "place", Usage: "give pools offsets that are free", ArgsUsage: "<env> [<pool>]",
		Description: `The addresses of a pool begin at its offset. If two branches took the same
one, name the pool that has no servers yet: it gets another. Without a pool, the
offsets that the file leaves out are written down: where a pool is now, or a free
one if it shares addresses with others.

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
		&cli.BoolFlag{Name: "dry-run", Usage: "print the difference, and write nothing"},
		&cli.BoolFlag{Name: "no-render", Usage: "write cluster.yaml only; needs no keys"},
	}
}
