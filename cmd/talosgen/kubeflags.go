package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
)

const flagServer = "server"

// clusterFlags are those of commands that talk to Kubernetes only.
func clusterFlags(more ...cli.Flag) []cli.Flag {
	more = append(append(more,
		&cli.StringFlag{Name: flagServer, Usage: "`URL` of the Kubernetes API, in place of the control plane nodes"}), nodeFlags()...)
	return sessionFlags(append(more, outputFlag())...)
}

// openKubernetes opens the rendered tree that the command names, and prepares to
// talk to the Kubernetes API that --server names. Nothing is asked of Hetzner.
func (k clusters) openKubernetes(c *cli.Context) (*session, *apply.Cluster, error) {
	name, err := k.ws.environment(c)
	if err != nil {
		return nil, nil, err
	}
	repo, err := k.ws.open(c)
	if err != nil {
		return nil, nil, err
	}
	defer repo.Close()
	env, examples, err := k.trees.open(c.Context, repo, name)
	if err != nil {
		return nil, nil, err
	}
	dial, err := serverDialer(k.vars, k.out.masker)
	if err != nil {
		return nil, nil, err
	}
	s := k.newSession(repo.Root(), env)
	s.stale = staleSources(repo, name)
	s.stop = s.view.start()
	cluster, err := env.Kubernetes(c.Context, apply.KubeAccess{
		Server: c.String(flagServer), Examples: examples, Dial: dial, Clock: k.clock, Random: k.random, Notify: s.view.event,
	})
	if err != nil {
		s.stop()
	}
	return s, cluster, err
}
