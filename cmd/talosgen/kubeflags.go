package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
)

const flagServer = "server"

// clusterFlags are those of commands that talk to Kubernetes only.
func clusterFlags(more ...cli.Flag) []cli.Flag {
	more = append(append(more,
		&cli.StringFlag{Name: flagServer, Usage: "`URL` of the Kubernetes API, instead of looking where the control planes are"}), nodeFlags()...)
	return sessionFlags(append(more, outputFlag())...)
}

// openCluster opens the rendered tree that the command names, and prepares to
// talk to the Kubernetes API that --server names. Nothing is asked of Hetzner.
func (w *world) openCluster(c *cli.Context) (*cloudSession, *apply.Cluster, error) {
	name, err := w.environment(c)
	if err != nil {
		return nil, nil, err
	}
	repo, err := w.openRepo(c)
	if err != nil {
		return nil, nil, err
	}
	defer repo.Close()
	env, examples, err := w.openTree(c.Context, repo, name)
	if err != nil {
		return nil, nil, err
	}
	dial, err := w.serverDialer()
	if err != nil {
		return nil, nil, err
	}
	s := &cloudSession{env: env, root: repo.Root()}
	s.view, s.stop = w.startView(func() int { return -1 })
	cluster, err := env.Kubernetes(c.Context, apply.KubeAccess{
		Server: c.String(flagServer), Examples: examples, Dial: dial, Clock: clock{w}, Random: w.random, Tell: s.view.event,
	})
	if err != nil {
		s.stop()
	}
	return s, cluster, err
}
