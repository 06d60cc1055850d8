package main

import (
	"github.com/urfave/cli/v2"
)

const flagWait = "wait"

func healthCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "health",
		Usage:        "say whether a cluster is well",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
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
		Action: w.healthAction,
	}
}

func (w *world) healthAction(c *cli.Context) error {
	s, err := w.openSession(c)
	if err != nil {
		return err
	}
	defer w.end(c, s)
	report, waited := s.Health(c.Context, c.Duration(flagWait))
	s.stop()
	if report == nil {
		return waited
	}
	if wantsJSON(c) {
		err = w.printJSON(struct {
			Cluster string `json:"cluster"`
			Well    bool   `json:"well"`
			Results any    `json:"results"`
		}{s.env.Infrastructure.Cluster, report.Well(), report.Results})
	} else {
		err = w.printText(report.String())
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
