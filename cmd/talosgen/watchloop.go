package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/ledger"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
)

// watchLoop takes the turns of a watch.
type watchLoop struct {
	c        *cli.Context
	clusters clusters
	env      string
	policy   watch.Policy
	watcher  *apply.Watcher
	metrics  *watchMetrics
	only     bool // to tell
	once     bool
	turns    int
	reported watchReported
}

// run takes turns until it is interrupted, or, if it looks once, until all is decided.
// What is wrong with the command line, the tree or the keys ends it in the first turn
// only: later it is told, and may be mended.
func (l *watchLoop) run() error {
	ctx, clock := l.c.Context, l.clusters.clock
	for {
		begun := clock.now()
		t, awaited, err := l.turn()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if l.turns++; l.turns == 1 && err != nil && fatal(err) {
			return err
		}
		l.metrics.took(t, clock.now())
		if err := l.show(t); err != nil {
			return err
		}
		if l.once && (awaited == 0 || t.Result == watch.Failed) {
			return watchEnds(t, err)
		}
		if err := clock.sleep(ctx, max(l.policy.Interval-clock.now().Sub(begun), time.Second)); err != nil {
			return err
		}
	}
}

// fatal reports whether an error is of who runs the watch, and not of the cluster or the
// way to it.
func fatal(err error) bool {
	switch diag.CodeOf(err) {
	case diag.Remote, diag.Conflict, diag.NotReady:
		return false
	}
	return true
}

// turn takes a turn: a session of its own, with the tree as it is now. It returns how many
// workers are dead for which the time has not come.
func (l *watchLoop) turn() (t watch.Tick, awaited int, err error) {
	t = watch.Tick{Time: l.clusters.clock.now(), Environment: l.env}
	var said syncBuffer
	out := *l.clusters.out
	if !l.c.Bool(flagVerbose) {
		out.stderr, out.screen, out.live, out.terminal = out.masker.Writer(&said), out.masker.Writer(&said), false, false
	}
	err = l.clusters.printingTo(&out).useOf(l.c, l.env, func(s *session) error {
		t.Cluster = s.env.Infrastructure.Cluster
		seen, err := l.watcher.Observe(l.c.Context, s.Session, unsafeSources(s)...)
		if err != nil {
			return err
		}
		t.Decided(seen.Found, seen.Decided)
		counts := seen.Plan.Counts()
		t.Changes = counts.Add + counts.Change + counts.Replace + counts.Destroy
		awaited = len(l.watcher.Awaited(seen))
		if l.only || !seen.Decided.Does() {
			l.well(s, seen, t.Result)
			return l.sweep(s, seen)
		}
		if err := l.heal(s, seen, &t); err != nil {
			return err
		}
		t.Result = watch.Healed
		return nil
	})
	l.failed(&t, err)
	if text := strings.TrimRight(said.text(), "\n"); len(t.Done)+len(t.Problems) > 0 && text != "" {
		l.clusters.out.say("%s", text)
	}
	return t, awaited, err
}

// heal does what was decided. Each run that changes something is in the history.
func (l *watchLoop) heal(s *session, seen *apply.Watched, t *watch.Tick) error {
	if !s.isHeld(l.c.Context) { // else each turn would tell that it does nothing
		l.begin(s, seen)
	}
	err := l.watcher.Heal(l.c.Context, s.Session, seen, s.owner(), func(r *apply.Report, ended error) {
		t.Done = append(t.Done, r.Lines()...)
		s.recordRun(l.c, ledger.Entry{}, r, ended)
	})
	t.Replaced = err == nil && seen.Decided.Replace != ""
	return err
}

// begin tells others that something is healed, unless the last thing that they were told
// is that this fails.
func (l *watchLoop) begin(s *session, seen *apply.Watched) {
	if l.clusters.prepare(l.c, s); s.notices == nil {
		return
	}
	s.notices.reported = &l.reported
	s.notices.plan(seen.Plan)
	if !l.reported.failing() {
		s.notices.begin(l.c.Context)
	}
}

// well tells those who know that healing fails that there is nothing left to heal: somebody
// else has seen to it.
func (l *watchLoop) well(s *session, seen *apply.Watched, r watch.Result) {
	if !l.only && r == watch.InSync && l.reported.failing() {
		l.begin(s, seen)
	}
}

// sweep removes what dead runs have left in a cluster in which nothing is healed.
func (l *watchLoop) sweep(s *session, seen *apply.Watched) error {
	if l.only {
		return nil
	}
	return l.watcher.Heal(l.c.Context, s.Session, seen, s.owner(), func(*apply.Report, error) {})
}

// isHeld reports whether another run has the lock, as far as that is known.
func (s *session) isHeld(ctx context.Context) bool {
	holder, err := s.Holder(ctx)
	return err == nil && holder != nil
}

// unsafeSources says what speaks against a tree that is committed: sources that are newer.
func unsafeSources(s *session) (why []string) {
	for _, f := range s.stale {
		why = append(why, f.Text)
	}
	return why
}

// failed notes the error of a turn.
func (l *watchLoop) failed(t *watch.Tick, err error) {
	if err == nil {
		return
	}
	t.Result = watch.Failed
	if diag.CodeOf(err) == diag.Conflict {
		t.Result = watch.Locked
	}
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		t.Problems = append(t.Problems, l.clusters.out.clean(p.Error()))
	}
}

// show prints a turn: a line of JSON, or text.
func (l *watchLoop) show(t watch.Tick) error {
	if !forPrograms(l.c) {
		return l.clusters.out.printData([]byte(printable.Text(l.clusters.out.masker.String(t.String()))))
	}
	text, err := plan.Encode(t)
	if err != nil {
		return err
	}
	if printedHook != nil {
		printedHook(t, text)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, printable.JSON(text)); err != nil {
		return err
	}
	line.WriteByte('\n')
	return l.clusters.out.printData(line.Bytes())
}
