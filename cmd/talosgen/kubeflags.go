package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
)

const flagServer = "server"

// clusterFlags are those of commands that talk to Kubernetes only.
func clusterFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.StringFlag{Name: flagServer, Usage: "`URL` of the Kubernetes API to use instead of the one in the tree"},
		outputFlag())
}

// kubeSession is an environment and its Kubernetes API, as a command uses them.
type kubeSession struct {
	*apply.Cluster
	env  *apply.Environment
	root string // of the repository
	view *runView
	stop func() // of the view, and the connections
}

// openCluster opens the rendered tree that the command names, and prepares to
// talk to its Kubernetes API.
func (w *world) openCluster(c *cli.Context) (*kubeSession, error) {
	name, err := environment(c)
	if err != nil {
		return nil, err
	}
	repo, err := w.openRepo(c)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	env, examples, err := w.openTree(c.Context, repo, name)
	if err != nil {
		return nil, err
	}
	dial, err := w.serverDialer()
	if err != nil {
		return nil, err
	}
	s := &kubeSession{env: env, root: repo.Root()}
	view, stop := w.startView(func() int { return -1 })
	s.view = view
	s.Cluster, err = env.Kubernetes(c.Context, apply.KubeAccess{
		Server: c.String(flagServer), Examples: examples, Dial: dial, Clock: clock{w}, Random: w.random, Tell: view.event,
	})
	if err != nil {
		stop()
		return nil, err
	}
	s.stop = func() { stop(); s.Close() }
	return s, nil
}
