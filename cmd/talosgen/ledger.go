package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/ledger"
	"github.com/talosgen/talosgen/internal/printable"
)

// historyCommand shows who has changed a cluster.
type historyCommand struct{ clusters clusters }

func (h historyCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "history",
		Usage:     "show who has changed a cluster, when, and from which commit",
		ArgsUsage: "<env>",
		Description: `The cluster keeps its last 200 runs that have changed something, those of all
operators: apply, upgrade, takeover, replace, reset and watch. Each has the time, the user
and the machine, the command, the commit of the tree, how many changes were made,
and how the run ended. The newest is the first. Nothing is changed.

They are in the ConfigMap kube-system/talosgen-history. A run that could not record
itself there said so in a warning. A run that asks nothing of Kubernetes, such as
apply --stage infrastructure, is not recorded, and the history goes with the cluster.

Examples:
   talosgen history prod
   talosgen history prod -o json`,
		Flags:  clusterFlags(),
		Action: h.run,
	}
}

func (h historyCommand) run(c *cli.Context) error {
	return h.clusters.read(c, func(s *session) error {
		return s.AtCluster(c.Context, c.String(flagServer), func(cluster *apply.Cluster) error {
			entries, err := cluster.Ledger(c.Context)
			s.stop()
			switch {
			case err != nil:
				return err
			case forPrograms(c):
				return s.out.printValue(c, append([]ledger.Entry{}, entries...))
			}
			return s.out.printData([]byte(printable.Text(ledger.Table(entries))))
		})
	})
}
