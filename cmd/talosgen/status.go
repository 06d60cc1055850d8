package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
)

func statusCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "status",
		Usage:        "compare a cluster with Git: nodes, objects, Flux, certificates",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
		Description: `Asks the Kubernetes API of a cluster, and changes nothing:

 - are the nodes of rendered/<env> there, ready, and of the version in Git;
 - are the objects of bootstrap/ as Git has them, and ready;
 - has each Kustomization of Flux applied the tree that is checked out here;
 - are certificates valid for another month.

It signs a short-lived certificate of an administrator for itself, and needs a
key that can decrypt the tree. Exits 1 if something differs.

Examples:
   talosgen status prod
   talosgen status prod -o json
   talosgen status prod --server https://127.0.0.1:6443   through a tunnel`,
		Flags:  clusterFlags(),
		Action: w.statusAction,
	}
}

func (w *world) statusAction(c *cli.Context) error {
	s, err := w.openCluster(c)
	if err != nil {
		return err
	}
	status, err := s.Status(c.Context, sameTreeAs(s.root, s.env.Name()))
	s.stop()
	if err != nil {
		return err
	}
	text := []byte(status.String())
	if wantsJSON(c) {
		if text, err = status.JSON(); err != nil {
			return err
		}
	}
	if err := w.printData(text); err != nil {
		return err
	}
	if len(status.Differences) > 0 {
		return errDifferences
	}
	return nil
}

// sameTreeAs compares the tree of an environment, as it is checked out, with what
// it was in a commit. A commit that is not known here had another one.
func sameTreeAs(root, env string) apply.SameTree {
	return func(ctx context.Context, commit string) (bool, error) {
		dir := "rendered/" + env
		same, err := sameTree(ctx, root, "HEAD", commit, dir)
		var failed *gitError
		if errors.As(err, &failed) {
			return false, nil // git does not know the commit, or there is no repository
		}
		return same, err
	}
}
