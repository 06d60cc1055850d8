package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/printable"
)

// statusCommand compares a cluster with Git.
type statusCommand struct{ clusters clusters }

func (t statusCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "show drift between a cluster and Git: nodes, objects, Flux, certificates",
		ArgsUsage: "<env> | --all | --env <env>,<env>",
		Description: `Reads the Kubernetes API of a cluster, and changes nothing. It shows:

 - whether the nodes of rendered/<env> exist, are ready, and run the versions
   in Git;
 - whether the objects of bootstrap/ are in sync with Git, and ready;
 - whether each Kustomization of Flux, or Application of Argo CD, has applied
   the checked-out tree;
 - which access is open for a while, by whom and until when;
 - since and until when certificates are valid: those of the authorities,
   which also sign every kubeconfig and talosconfig, and those of each node;
 - which rotation is under way, and how long the versions that run are
   supported.

The tree is compared as it is, committed or not. The control plane nodes are
found through Hetzner and reached as apply reaches them. With --server only that
URL is used: no token is needed, and certificates of nodes are left out. The
command signs a short-lived administrator's certificate for itself, and needs a
key that can decrypt the tree. Exits 1 if there is drift. If the Kubernetes API
does not answer, the rest is shown, and the error decides the exit code: 5 or 7.

Examples:
   talosgen status prod
   talosgen status prod -o json
   talosgen status prod --server https://127.0.0.1:6443   through a tunnel
   talosgen status --env dev,prod      two environments, and a table of them`,
		Flags:  clusterFlags(manyFlags()...),
		Action: t.run,
	}
}

// run asks the API that is named, or else the control planes.
func (t statusCommand) run(c *cli.Context) error {
	if c.String(flagServer) != "" && !several(c) {
		s, cluster, err := t.clusters.openKubernetes(c)
		if err != nil {
			return err
		}
		defer s.stop()
		defer cluster.Close()
		return t.compare(c, s, cluster, nil)
	}
	// A tree that is not committed is compared as it is.
	if err := c.Set(flagAllowDirty, "true"); err != nil {
		return err
	}
	return t.clusters.each(c, many{one: append(flagsOfOne(), flagServer)}, func(k clusters, env string) error {
		return k.useOf(c, env, func(s *session) error { return t.ask(c, s) })
	})
}

// ask asks the control planes of a cluster.
func (t statusCommand) ask(c *cli.Context, s *session) error {
	open, err := apply.Access{Session: s.Session}.List(c.Context)
	if err != nil {
		return err
	}
	return s.AtCluster(c.Context, "", func(cluster *apply.Cluster) error { return t.compare(c, s, cluster, open) })
}

// compare compares a cluster with its tree, and prints the result, as far as the
// cluster answers, with the access that is open to it for a while.
func (statusCommand) compare(c *cli.Context, s *session, cluster *apply.Cluster, open []cloudplan.OpenAccess) error {
	status, unseen := cluster.Status(c.Context, sameTreeAs(s.root, s.env.Name()))
	if status == nil {
		return unseen
	}
	s.stop()
	status.Access = open
	s.found.changes(len(status.Differences))
	show := func() error { return s.out.printData([]byte(printable.Text(status.String()))) }
	if forPrograms(c) {
		show = func() error { return s.out.printValue(c, status) }
	}
	if err := show(); err != nil {
		return err
	}
	s.warn(s.stale)
	if unseen == nil && len(status.Differences) > 0 {
		return errDifferences
	}
	return unseen
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
