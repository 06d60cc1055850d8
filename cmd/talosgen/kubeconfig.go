package main

import (
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
)

func kubeconfigCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "kubeconfig",
		Usage:        "give kubectl access to a cluster",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
		Description: `Signs a short-lived client certificate of an administrator (system:masters) with
the authority in rendered/<env>, and writes it as a context into the
configuration of kubectl, which becomes the current one. Other contexts and
comments stay. It asks nothing of the cluster, and needs a key that can decrypt
the tree.

A certificate that is there already stays while more than a third of --lifetime
is left.

Examples:
   talosgen kubeconfig prod                  into ~/.kube/config
   talosgen kubeconfig prod -o prod.kubeconfig --lifetime 1h
   talosgen kubeconfig prod --server https://127.0.0.1:6443
                                             through a tunnel
   talosgen kubeconfig prod -o - | less      alone, on stdout`,
		Flags: accessFlags("$KUBECONFIG, else ~/.kube/config",
			&cli.StringFlag{Name: "server", Usage: "`URL` of the API to use instead of the one in the tree"},
		),
		Action: func(c *cli.Context) error {
			return w.writeAccess(c, w.kubeconfigFile, "an administrator", func(env *apply.Environment, r apply.AccessRequest) (*apply.AccessFile, error) {
				return env.Kubeconfig(c.Context, r, c.String("server"))
			})
		},
	}
}

// kubeconfigFile is the file that kubectl would write: of a list, the first that
// exists, else the last.
func (w *world) kubeconfigFile() (string, error) {
	list, _ := w.lookup("KUBECONFIG")
	last := ""
	for _, path := range filepath.SplitList(list) {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		last = path
	}
	if last != "" {
		return last, nil
	}
	return w.inHome(".kube", "config")
}
