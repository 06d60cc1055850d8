package main

import (
	"github.com/urfave/cli/v2"
)

const flagWait = "wait"

// healthCommand checks whether a cluster is healthy.
type healthCommand struct{ clusters clusters }

func (h healthCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "health",
		Usage:     "check whether a cluster is healthy",
		ArgsUsage: "<env>",
		Description: `Checks every node, every etcd member and the Kubernetes API: all that talosctl
health checks, and more of etcd. Nothing is changed. Checks that cannot pass
before a CNI is installed are skipped, and shown as skipped. apply makes the same
checks before and after it disrupts a node.

Exits 0 if the cluster is healthy, 1 if it is not; with --wait 7 if it is not
healthy in time.

Examples:
   talosgen health prod                check once
   talosgen health prod --wait 10m     wait until it is healthy
   talosgen health prod -o json        all checks as JSON`,
		Flags: sessionFlags(append(nodeFlags(),
			&cli.DurationFlag{Name: flagWait, Usage: "wait this long until the cluster is healthy"},
			outputFlag())...),
		Action: h.run,
	}
}

func (h healthCommand) run(c *cli.Context) error {
	return h.clusters.read(c, func(s *session) error { return h.health(c, s) })
}

// health checks a cluster, and prints the results.
func (h healthCommand) health(c *cli.Context, s *session) error {
	var err error
	report, waited := s.Health(c.Context, c.Duration(flagWait))
	s.stop()
	if report == nil {
		return waited
	}
	if forPrograms(c) {
		err = s.out.printValue(c, report.Of(s.env.Infrastructure.Cluster))
	} else {
		err = s.out.printText(report.String())
	}
	switch {
	case err != nil:
		return err
	case waited != nil:
		return waited
	case !report.Well():
		return errDifferences
	}
	return nil
}
