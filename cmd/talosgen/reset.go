package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

const flagYesReset = "yes-reset"

// resetCommand returns machines to maintenance mode.
type resetCommand struct{ clusters clusters }

func (r resetCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "reset",
		Usage:     "reset nodes to maintenance mode",
		ArgsUsage: "<env> [node]...",
		Description: `Wipes configuration and data of some nodes, or of all, and leaves their machines
in maintenance mode, with Talos on their disks. User volumes are kept.

If the cluster remains, the nodes leave it first: pods are drained, etcd members
and Node objects are removed. If all control plane nodes are reset, the cluster
ends: a snapshot of etcd is taken if etcd can be reached, and etcd is gone. Use it
to release machines, and to recover a cluster that has lost etcd: reset its
control plane nodes, then run ` + "`talosgen apply <env> --recover-from`" + ` with a snapshot.
Servers at Hetzner Cloud are kept; ` + "`talosgen destroy`" + ` removes them.

Examples:
   talosgen reset home                     all nodes: the end of the cluster
   talosgen reset home home-worker-2       one node
   talosgen reset home --yes-reset home    do not ask, as in CI`,
		Flags: sessionFlags(append(nodeFlags(),
			&cli.StringFlag{Name: flagYesReset, Usage: "confirm with the `NAME` of the cluster"},
			outputFlag())...),
		Action: r.run,
	}
}

func (r resetCommand) run(c *cli.Context) error {
	if c.NArg() == 0 {
		return diag.On("", "which environment?").WithHint("%s <env> [node]...", c.Command.HelpName).WithCode(diag.Usage)
	}
	return r.clusters.useOf(c, c.Args().First(), func(s *session) error {
		r.clusters.begin(c, s)
		return r.reset(c, s)
	})
}

// reset plans, asks, and resets.
func (r resetCommand) reset(c *cli.Context, s *session) error {
	cluster := s.env.Infrastructure.Cluster
	if name := c.String(flagYesReset); name != "" && name != cluster {
		return diag.On("--"+flagYesReset, "the cluster of %s is named %s, not %s", s.env.Name(), cluster, name).WithCode(diag.Usage)
	}
	t := apply.Removal{Nodes: c.Args().Tail(), Wipe: true}
	p, err := s.PlanRemoval(c.Context, t)
	if err != nil {
		return err
	}
	s.showNodes(c, p)
	if len(p.Steps) > 0 && len(p.Refusals) == 0 {
		question := fmt.Sprintf("type the name of the cluster (%s) to reset these machines: ", cluster)
		if err := s.agreeByName(c, cluster, c.String(flagYesReset), flagYesReset, question); err != nil {
			return err
		}
	}
	report, err := s.Remove(c.Context, p, t, r.clusters.owner())
	s.stop()
	return s.endRun(c, report, err)
}
