package main

import (
	"github.com/urfave/cli/v2"
)

const flagWait = "wait"

// healthCommand checks whether a cluster is healthy.
type healthCommand struct{ clusters clusters }

func (h healthCommand) command() *cli.Command {
	return &cli.Command{
		Name:         "health",
		Usage:        "say whether a cluster is well",
		ArgsUsage:    "<env>",
		BashComplete: h.clusters.ws.completeEnvironments(false),
		Description: `Asks every node, every member of etcd and the Kubernetes API, and checks what
talosctl health checks, and a little more of etcd. Nothing is changed. What cannot
hold before there is a CNI is skipped, and said to be. apply makes the same checks
before and after it disturbs a node.

Exits 0 if all is well, 1 if something is not; with --wait 7 if it is not well in
time.

Examples:
   talosgen health prod                is it well now?
   talosgen health prod --wait 10m     wait until it is
   talosgen health prod -o json        all checks, for programs`,
		Flags: sessionFlags(append(nodeFlags(),
			&cli.DurationFlag{Name: flagWait, Usage: "look again for this long until all is well"},
			outputFlag())...),
		Action: h.run,
	}
}

func (h healthCommand) run(c *cli.Context) error {
	return h.clusters.use(c, func(s *session) error { return h.health(c, s) })
}

// health checks a cluster, and prints the results.
func (h healthCommand) health(c *cli.Context, s *session) error {
	var err error
	report, waited := s.Health(c.Context, c.Duration(flagWait))
	s.stop()
	if report == nil {
		return waited
	}
	if wantsJSON(c) {
		err = s.out.printJSON(struct {
			Cluster string `json:"cluster"`
			Well    bool   `json:"well"`
			Results any    `json:"results"`
		}{s.env.Infrastructure.Cluster, report.Well(), report.Results})
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
