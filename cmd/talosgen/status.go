package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/printable"
)

// statusCommand compares a cluster with Git.
type statusCommand struct{ clusters clusters }

func (t statusCommand) command() *cli.Command {
	return &cli.Command{
		Name:         "status",
		Usage:        "compare a cluster with Git: nodes, objects, Flux, certificates",
		ArgsUsage:    "<env>",
		BashComplete: t.clusters.ws.completeEnvironments(false),
		Description: `Asks the Kubernetes API of a cluster, and changes nothing:

 - are the nodes of rendered/<env> there, ready, and of the versions in Git;
 - are the objects of bootstrap/ as Git has them, and ready;
 - has each Kustomization of Flux applied the tree that is checked out here;
 - for how long are certificates valid: of the authorities, by which also
   everybody's kubeconfig and talosconfig are signed, and of each node.

The tree is compared as it is, committed or not. The control planes are looked
for at Hetzner and reached as apply reaches them. With --server only that URL is
asked, which takes no token, and certificates of nodes are left out. It signs a
short-lived certificate of an administrator for itself, and needs a key that can
decrypt the tree. Exits 1 if something differs.

Examples:
   talosgen status prod
   talosgen status prod -o json
   talosgen status prod --server https://127.0.0.1:6443   through a tunnel`,
		Flags:  clusterFlags(),
		Action: t.run,
	}
}

// run asks the API that is named, or else the control planes.
func (t statusCommand) run(c *cli.Context) error {
	if c.String(flagServer) != "" {
		s, cluster, err := t.clusters.openKubernetes(c)
		if err != nil {
			return err
		}
		defer s.stop()
		defer cluster.Close()
		return t.compare(c, s, cluster)
	}
	// A tree that is not committed is compared as it is.
	if err := c.Set(flagAllowDirty, "true"); err != nil {
		return err
	}
	return t.clusters.use(c, func(s *session) error {
		return s.AtCluster(c.Context, "", func(cluster *apply.Cluster) error { return t.compare(c, s, cluster) })
	})
}

// compare compares a cluster with its tree, and prints the result.
func (statusCommand) compare(c *cli.Context, s *session, cluster *apply.Cluster) error {
	status, err := cluster.Status(c.Context, sameTreeAs(s.root, s.env.Name()))
	if err != nil {
		return err
	}
	s.stop()
	text := []byte(printable.Text(status.String()))
	if wantsJSON(c) {
		if text, err = status.JSON(); err != nil {
			return err
		}
		text = printable.JSON(text)
	}
	if err := s.out.printData(text); err != nil {
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
