package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/reach"
)

// clusters connects commands with the clusters of a repository.
type clusters struct {
	args    []string
	ws      workspace
	trees   trees
	keys    keySource
	out     *console
	vars    environ
	clock   clock
	random  io.Reader
	http    http.RoundTripper
	signers reach.Signers
	// Of a command for several environments: what their sessions share, and what it
	// found of this one; nil for one environment.
	budgets *sync.Map
	found   *outcome
	// Of a rehearsal: whether it only reads, who hears of its run on simulators, and
	// where snapshots go then.
	readOnly bool
	hears    func(progress.Event)
	keep     apply.Keep
}

// use lets a command use a session, and ends it.
func (k clusters) use(c *cli.Context, do func(*session) error) error {
	name, err := k.ws.environment(c)
	if err != nil {
		return err
	}
	return k.useOf(c, name, do)
}

// read is [clusters.use] for a tree that need not be committed: nothing of it is applied.
func (k clusters) read(c *cli.Context, do func(*session) error) error {
	if err := c.Set(flagAllowDirty, "true"); err != nil {
		return err
	}
	return k.use(c, do)
}

// useOf is [clusters.use] for an environment whose name was read.
func (k clusters) useOf(c *cli.Context, name string, do func(*session) error) (err error) {
	s, err := k.open(c, name)
	if err != nil {
		return err
	}
	ended := false
	defer func() { s.notices.end(c.Context, err, ended) }() // of all that comes before it
	defer func() { err = s.end(c.Context, err) }()          // also after a panic
	err = do(s)
	ended = true
	return err
}

// open opens the rendered tree of an environment, and prepares to talk to its
// project. The tree is opened first, so nothing is sent anywhere unless it is
// sound.
func (k clusters) open(c *cli.Context, name string) (*session, error) {
	repo, err := k.ws.open(c)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	open := k.trees.open
	if c.Bool(flagKeyless) {
		open = k.trees.openKeyless
	}
	env, examples, err := open(c.Context, repo, name)
	if err != nil {
		return nil, err
	}
	if err := k.comparable(env); err != nil {
		return nil, err
	}
	history, err := sourceOf(c, repo.Root(), env)
	if err != nil {
		return nil, err
	}
	s := k.newSession(repo.Root(), env)
	if history != nil {
		s.commit = history.Commit
	}
	if s.timeline, err = newTimelineFile(c, k.clock); err != nil {
		return nil, err
	}
	cloud, err := k.cloud(c, s)
	if err != nil {
		return nil, err
	}
	cloud.Examples, cloud.History, s.stale = examples, history, staleSources(repo, name)
	return s, s.connect(c, cloud)
}

// newSession is a session that is not connected yet.
func (k clusters) newSession(root string, env *apply.Environment) *session {
	return &session{
		root: root, env: env, out: k.out, args: k.args, owner: k.owner, addresses: publicAddress{k.http}, found: k.found, hears: k.hears,
		view: newRunView(k.out, k.clock), stop: func() {},
	}
}

// cloud is how a session talks to its project, as flags and variables say. The
// session learns whether that is a simulated one.
func (k clusters) cloud(c *cli.Context, s *session) (apply.Cloud, error) {
	endpoint, err := k.endpoint(c)
	if err != nil {
		return apply.Cloud{}, err
	}
	s.local = reach.OnLoopback(endpoint)
	s.facts = factsFile(s.root, s.env, s.local)
	builder, err := k.imageBuilder(c)
	if err != nil {
		return apply.Cloud{}, err
	}
	if !s.local {
		builder.Factory = k.http // the Image Factory knows nothing of a simulation
	}
	nodes, err := k.nodes(c, s)
	return apply.Cloud{
		ReadOnly: k.readOnly, Endpoint: endpoint, Token: k.vars.tokenOf(s.env.Name(), s.local), Simulated: s.local, Hurried: s.local && k.hears == nil,
		HTTP: k.http, Budgets: k.budgets, Clock: k.clock, Rand: func() float64 { return jitter(k.random) }, Builder: builder,
		Robot: k.robotAccount(),
		Nodes: nodes, Same: sameTreeAs(s.root, s.env.Name()),
	}, err
}

// owner is who runs this, for others who find the lock.
func (k clusters) owner() apply.Owner {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	var id [8]byte
	_, _ = io.ReadFull(k.random, id[:]) // the time makes up for it
	return apply.Owner{Name: name, Run: fmt.Sprintf("%x-%s", k.clock.now().Unix(), hex.EncodeToString(id[:]))}
}
