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
		Name:         "reset",
		Usage:        "make machines forget that they were nodes",
		ArgsUsage:    "<env> [node]...",
		BashComplete: r.clusters.ws.completeEnvironments(true),
		Description: `Wipes configuration and data of the nodes that are named, or of all, and leaves
their machines in maintenance mode, with Talos on their disks. What is on volumes
of users stays.

Nodes that the cluster goes on without leave it first: their pods, their place in
etcd, their names in Kubernetes. If every control plane is among them it is the
end of the cluster: etcd is saved while it can be asked, and then it is gone. That
is how machines that exist already are freed, and how a cluster that has lost its
etcd begins to recover: reset its control planes, then
` + "`talosgen apply <env> --recover-from`" + ` a snapshot. Servers at Hetzner Cloud stay as they
are; ` + "`talosgen destroy`" + ` removes them.

Examples:
   talosgen reset home                     all nodes: the end of the cluster
   talosgen reset home home-worker-2       one node
   talosgen reset home --yes-reset home    do not ask, as in CI`,
		Flags: sessionFlags(append(nodeFlags(),
			&cli.StringFlag{Name: flagYesReset, Usage: "the `NAME` of the cluster, instead of typing it"},
			outputFlag())...),
		Action: r.run,
	}
}

func (r resetCommand) run(c *cli.Context) error {
	if c.NArg() == 0 {
		return diag.On("", "which environment?").WithHint("%s <env> [node]...", c.Command.HelpName).WithCode(diag.Usage)
	}
	return r.clusters.useOf(c, c.Args().First(), func(s *session) error { return r.reset(c, s) })
}

// reset plans, asks, and resets.
func (r resetCommand) reset(c *cli.Context, s *session) error {
	cluster := s.env.Infrastructure.Cluster
	if name := c.String(flagYesReset); name != "" && name != cluster {
		return diag.On("--"+flagYesReset, "the cluster of %s is named %s, not %s", s.env.Name(), cluster, name).WithCode(diag.Usage)
	}
	t := apply.TakeOut{Nodes: c.Args().Tail(), Wipe: true}
	p, err := s.PlanTakeOut(c.Context, t)
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
	report, err := s.TakeOut(c.Context, p, t, r.clusters.owner())
	s.stop()
	return s.endRun(c, report, err)
}
