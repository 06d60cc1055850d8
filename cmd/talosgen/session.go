package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
)

// Flags of commands that talk to Hetzner Cloud.
const (
	flagEndpoint   = "hcloud-endpoint"
	flagAllowDirty = "allow-dirty"
	flagVerbose    = "verbose"
	flagYes        = "yes"
)

// Variables of commands that talk to Hetzner Cloud, as Hetzner's own tools have
// them.
const (
	endpointVariable = "HCLOUD_ENDPOINT"
	tokenVariable    = "HCLOUD_TOKEN"
)

// sessionFlags are those of every command that talks to Hetzner Cloud.
func sessionFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.BoolFlag{Name: flagAllowDirty, Usage: "also if rendered/<env> is not committed and pushed"},
		&cli.StringFlag{Name: flagEndpoint, Usage: "`URL` of the Hetzner Cloud API; default: $" + endpointVariable + ", else Hetzner's own"},
		verboseFlag(),
	)
}

func verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagVerbose, Aliases: []string{"v"}, Usage: "show every request"}
}

// cloudSession is an environment and its project, as a command uses them.
type cloudSession struct {
	*apply.Session
	root  string // of the repository
	env   *apply.Environment
	view  *runView
	stop  func()          // of the view
	facts *repoFacts      // of machines that exist already; nil: they are not kept
	local bool            // the API is on this machine
	stale []apply.Finding // that sources are newer than the tree
}

// openSession opens the rendered tree that the command names, and prepares to
// talk to its project. The tree is opened first, so nothing is sent anywhere
// unless it is sound.
func (w *world) openSession(c *cli.Context) (*cloudSession, error) {
	name, err := w.environment(c)
	if err != nil {
		return nil, err
	}
	return w.openSessionOf(c, name)
}

// openSessionOf is [world.openSession] for an environment whose name was read.
func (w *world) openSessionOf(c *cli.Context, name string) (*cloudSession, error) {
	repo, err := w.openRepo(c)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	open := w.openTree
	if c.Bool(flagKeyless) {
		open = w.openTreeKeyless
	}
	env, examples, err := open(c.Context, repo, name)
	if err != nil {
		return nil, err
	}
	history, err := sourceOf(c, repo.Root(), env)
	if err != nil {
		return nil, err
	}
	endpoint, err := w.endpoint(c)
	if err != nil {
		return nil, err
	}
	builder, err := w.imageBuilder(c)
	if err != nil {
		return nil, err
	}
	if !apply.OnLoopback(endpoint) { // a simulation asks nobody
		builder.Factory = w.http
	}
	facts := factsFile(repo.Root(), env, apply.OnLoopback(endpoint))
	nodes, err := w.nodes(c, repo.Root(), facts, apply.OnLoopback(endpoint))
	if err != nil {
		return nil, err
	}
	token, _ := w.lookup(tokenVariable)
	s := &cloudSession{root: repo.Root(), env: env, facts: facts, local: apply.OnLoopback(endpoint), stale: staleSources(repo, name)}
	s.view, s.stop = w.startView(func() int {
		if s.Session == nil {
			return -1
		}
		_, left := s.Requests()
		return left
	})
	s.Session, err = env.Connect(c.Context, apply.Cloud{
		Endpoint: endpoint, Token: secret.New(token), Simulated: apply.OnLoopback(endpoint), Examples: examples,
		HTTP: w.http, Clock: clock{w}, Chance: w.chance, Builder: builder,
		Nodes: nodes, Same: sameTreeAs(repo.Root(), name), History: history, Log: w.requestLog(c, s.view), Tell: s.view.event,
	})
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// end ends a session. What cannot be taken back is said, and is the exit code of a
// command that went well otherwise.
func (w *world) end(c *cli.Context, s *cloudSession) {
	s.stop()
	if err := s.Close(c.Context); err != nil {
		w.printError(err)
		w.left = err
	}
}

// openTree opens a rendered tree. The keys of examples are no secret, and are
// found in the repository; all others are found where sops finds them.
func (w *world) openTree(ctx context.Context, repo *render.Repo, name string) (*apply.Environment, []string, error) {
	example, public, err := repo.ExampleKey(name)
	if err != nil {
		return nil, nil, err
	}
	var keys []sopsage.KeyFile
	if example != nil {
		keys = append(keys, *example)
	}
	tree, err := renderedTree(repo.Root(), name)
	if err != nil {
		return nil, nil, err
	}
	keyEnv := w.keyEnv()
	keyEnv.Recipients = repo.KeyRecipients
	env, err := apply.Open(ctx, apply.Tree{
		Env: name, Files: tree, Keys: sopsage.NewKeys(keyEnv, keys...), Masker: w.masker, Version: version,
	})
	return env, public, err
}

// openTreeKeyless is [world.openTree] without keys: nothing is looked for, and
// nothing decrypted.
func (w *world) openTreeKeyless(_ context.Context, repo *render.Repo, name string) (*apply.Environment, []string, error) {
	_, public, err := repo.ExampleKey(name)
	if err != nil {
		return nil, nil, err
	}
	tree, err := renderedTree(repo.Root(), name)
	if err != nil {
		return nil, nil, err
	}
	env, err := apply.OpenKeyless(apply.Tree{Env: name, Files: tree, Masker: w.masker, Version: version})
	return env, public, err
}

// renderedTree is the directory of a rendered tree. Links do not lead out of it.
func renderedTree(root, env string) (fs.FS, error) {
	dir, err := os.OpenRoot(filepath.Join(root, "rendered", env))
	if errors.Is(err, fs.ErrNotExist) {
		if err := render.CheckEnvironment(root, env); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, diag.New(diag.Pos{File: "rendered/" + env}, "cannot be opened: %v", reasonOf(err)).
			WithHint("render the environment first: `talosgen render %s`", env).WithCode(diag.Usage).WithCause(err)
	}
	return dir.FS(), nil
}

// endpoint is where the API is.
func (w *world) endpoint(c *cli.Context) (string, error) {
	endpoint := c.String(flagEndpoint)
	if endpoint == "" {
		endpoint, _ = w.lookup(endpointVariable)
	}
	if endpoint == "" {
		return "", nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return "", diag.On("--"+flagEndpoint, "not the URL of an API").
			WithHint("such as https://api.hetzner.cloud/v1, or what `talosgen sim` prints").WithCode(diag.Usage)
	}
	if u.Scheme == "http" && !apply.OnLoopback(endpoint) {
		return "", diag.On("--"+flagEndpoint, "without encryption the token could be read on the way").
			WithHint("use https:// for everything that is not on this machine").WithCode(diag.Usage)
	}
	return endpoint, nil
}

// requestLog prints requests, if that is asked for.
func (w *world) requestLog(c *cli.Context, v *runView) func(string) {
	if !c.Bool(flagVerbose) {
		return nil
	}
	return v.line
}

// clock is the world's.
type clock struct{ w *world }

// Now returns the time.
func (c clock) Now() time.Time { return c.w.now() }

// Sleep waits.
func (c clock) Sleep(ctx context.Context, d time.Duration) error { return c.w.sleep(ctx, d) }

// sleepFor waits in real time.
func sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// chance is a number from 0 to 1. It is no secret, so what is left of a source
// that fails will do.
func (w *world) chance() float64 {
	var b [8]byte
	_, _ = io.ReadFull(w.random, b[:])
	return float64(binary.BigEndian.Uint64(b[:])>>11) / (1 << 53)
}

// redrawEvery is how often a terminal shows that time goes on.
const redrawEvery = 500 * time.Millisecond

// startView shows what a session does. On a terminal times go on while nothing
// else happens.
func (w *world) startView(left func() int) (view *runView, stop func()) {
	view = &runView{out: w.screen, clean: w.clean, now: w.now, live: w.terminal && !w.dumb(), width: w.width, left: left}
	if !view.live {
		return view, func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for w.sleep(ctx, redrawEvery) == nil {
			view.redraw()
		}
	}()
	return view, func() { cancel(); <-done; view.clear() }
}

// dumb reports whether the terminal cannot move its cursor.
func (w *world) dumb() bool {
	kind, _ := w.lookup("TERM")
	return kind == "dumb"
}
