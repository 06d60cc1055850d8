package main

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// Flags of commands for several environments.
const (
	flagEnv  = "env"
	flagJobs = "jobs"
)

// defaultJobs is how many environments are looked at at once: what takes time is
// waiting for answers, and what takes memory is the tree of each.
const defaultJobs = 4

// allFlags name several environments in place of one.
func allFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: flagAll, Usage: "all environments of the repository"},
		&cli.StringSliceFlag{Name: flagEnv, Usage: "the environments `NAME,NAME` (repeatable)"},
	}
}

// manyFlags are those of a command that looks at several environments at once.
func manyFlags(more ...cli.Flag) []cli.Flag {
	return slices.Concat(more, allFlags(), []cli.Flag{
		&cli.IntFlag{Name: flagJobs, Value: defaultJobs, Usage: "with --all or --env, look at `NUMBER` environments at once"},
	})
}

// several reports whether a command is for several environments.
func several(c *cli.Context) bool { return c.Bool(flagAll) || c.IsSet(flagEnv) }

// namedOrAll are the environments that --all or --env mean: in the order in which they
// are named, each once.
func namedOrAll(c *cli.Context, repo *render.Repo) ([]string, error) {
	envs, err := repo.Environments()
	switch {
	case err != nil:
		return nil, err
	case c.NArg() > 0 && c.Bool(flagAll):
		return nil, diag.On("", "--all and an environment").WithHint("name one environment, or all").WithCode(diag.Usage)
	case c.NArg() > 0:
		return nil, diag.On("", "--env and an environment").WithHint("name all of them with --env").WithCode(diag.Usage)
	case c.Bool(flagAll) && c.IsSet(flagEnv):
		return nil, diag.On("", "--all and --env exclude each other").WithHint("see `%s --help`", c.Command.HelpName).WithCode(diag.Usage)
	case len(envs) == 0:
		return nil, diag.New(diag.Pos{File: "envs"}, "there are no environments").
			WithHint("an environment is a directory with a cluster.yaml; `talosgen init` writes one").WithCode(diag.Usage)
	case c.Bool(flagAll):
		return envs, nil
	}
	var named []string
	for _, name := range c.StringSlice(flagEnv) {
		switch name = strings.TrimSpace(name); {
		case !slices.Contains(envs, name):
			return nil, diag.On("--"+flagEnv, "there is no environment %q", name).WithHint("%s", diag.Suggest(name, envs)).WithCode(diag.Usage)
		case !slices.Contains(named, name):
			named = append(named, name)
		}
	}
	return named, nil
}

// flagsOfOne are flags that are about the nodes of one environment.
func flagsOfOne() []string { return []string{flagNode, flagEndpoints, flagFingerprint} }

// many is how a command goes about several environments.
type many struct {
	// Flags that are about one environment.
	one []string
	// Whether it is one environment after the other, the next one only if the last
	// one is done: for commands that change something, which may ask.
	inTurn bool
}

// each lets a command do its work for the environment that it names, or for several:
// each with a session and an output of its own.
func (k clusters) each(c *cli.Context, how many, do func(k clusters, env string) error) error {
	if !several(c) {
		name, err := k.ws.environment(c)
		if err != nil {
			return err
		}
		return do(k, name)
	}
	for _, flag := range how.one {
		if c.IsSet(flag) {
			return diag.On("--"+flag, "it is about one environment").WithHint("name the environment in place of --%s and --%s", flagAll, flagEnv).WithCode(diag.Usage)
		}
	}
	jobs := 1
	if !how.inTurn {
		if jobs = c.Int(flagJobs); jobs < 1 {
			return diag.On("--"+flagJobs, "%d is less than 1", jobs).WithCode(diag.Usage)
		}
	}
	repo, err := k.ws.open(c)
	if err != nil {
		return err
	}
	envs, err := namedOrAll(c, repo)
	repo.Close()
	if err != nil {
		return err
	}
	k.budgets = &sync.Map{}
	runs := make([]*manyRun, len(envs))
	for i, env := range envs {
		runs[i] = newManyRun(k, env, how.inTurn, forPrograms(c))
	}
	if how.inTurn {
		inTurn(c.Context, runs, do)
	} else {
		atOnce(c.Context, k.out, runs, jobs, do)
	}
	return endMany(c, k.out, runs)
}

// manyRun is the run of a command for one environment of several.
type manyRun struct {
	clusters clusters
	outcome  outcome
	stdout   bytes.Buffer
	stderr   syncBuffer
	ended    chan struct{}
	panicked any
}

// newManyRun prepares the run of one environment. What it prints is kept until its turn
// has come; if the environments take turns, only its data is, for programs.
func newManyRun(k clusters, env string, inTurn, programs bool) *manyRun {
	r := &manyRun{outcome: outcome{Env: env, Result: notStarted}, ended: make(chan struct{})}
	out := *k.out
	if !inTurn || programs {
		out.stdout, out.part = &r.stdout, true
	}
	if !inTurn {
		out.stderr, out.screen = out.masker.Writer(&r.stderr), out.masker.Writer(&r.stderr)
		out.terminal, out.answers, out.live = false, false, false
	}
	r.clusters = k.printingTo(&out)
	if inTurn {
		r.outcome.done = done
	}
	r.clusters.args, r.clusters.found = argsOfOne(k.args, env), &r.outcome
	return r
}

// printingTo is what connects commands that print elsewhere.
func (k clusters) printingTo(out *console) clusters {
	k.out, k.keys.out = out, out
	k.ws.process.Keys = k.keys.env()
	k.trees.ws, k.trees.keys = k.ws, k.keys
	return k
}

// argsOfOne is a command line for several environments as one for one of them.
func argsOfOne(args []string, env string) (one []string) {
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		switch {
		case !strings.HasPrefix(args[i], "-") || name != flagAll && name != flagEnv && name != flagJobs:
			one = append(one, args[i])
		case name != flagAll && !joined:
			i++
		}
	}
	return append(one, env)
}

// do does the work of a command for the environment. A panic is kept for whoever waits:
// what a process says of it has to pass its masker.
func (r *manyRun) do(ctx context.Context, do func(clusters, string) error) {
	defer close(r.ended)
	defer func() {
		if p := recover(); p != nil {
			r.panicked = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		}
	}()
	if ctx.Err() != nil {
		return
	}
	err := do(r.clusters, r.outcome.Env)
	code := exitOf(ctx, err)
	if code > int(diag.Differences) && code != int(diag.Interrupted) {
		r.clusters.out.printError(err)
	}
	r.outcome.end(code, err, r.clusters.out.masker)
}

// atOnce does the work for several environments at once. What each has printed is
// printed as a whole, in their order.
func atOnce(ctx context.Context, out *console, runs []*manyRun, jobs int, do func(clusters, string) error) {
	slots := make(chan struct{}, jobs)
	go func() {
		for _, r := range runs {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				r.do(ctx, do)
			}()
		}
	}()
	for _, r := range runs {
		<-r.ended
		r.show(out)
	}
}

// inTurn does the work for one environment after the other, until one is not done.
func inTurn(ctx context.Context, runs []*manyRun, do func(clusters, string) error) {
	for _, r := range runs {
		if r.clusters.out.say("%s:", r.outcome.Env); ctx.Err() != nil {
			return
		}
		if r.do(ctx, do); r.panicked != nil || r.outcome.ExitCode != int(diag.OK) {
			return
		}
	}
}
