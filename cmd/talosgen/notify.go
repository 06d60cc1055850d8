package main

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/ledger"
	"github.com/talosgen/talosgen/apply/notify"
	"github.com/talosgen/talosgen/schemas"
)

// notices tell others of the run of a session. A nil one tells nobody.
type notices struct {
	notifier *notify.Notifier
	run      notify.Run
	recorded bool // in the history
	clock    clock
	out      *console
	unknown  error // why it is not known who is to be told
	// Of a watch: what others know of its turns before. Otherwise nil.
	reported *watchReported
}

// begin tells others that a command begins to change a cluster. What it needs may be
// wrong: the run goes on, and says so in the end.
func (k clusters) begin(c *cli.Context, s *session) {
	if k.prepare(c, s); s.notices != nil {
		s.notices.begin(c.Context)
	}
}

// prepare finds out who is to be told of a run, and tells nobody yet.
func (k clusters) prepare(c *cli.Context, s *session) {
	if s.notices != nil || k.readOnly || k.hears != nil || c.Bool(flagKeyless) {
		return
	}
	targets, err := s.env.Notifications(c.Context)
	if err == nil && len(targets.Webhooks) == 0 && targets.CommitStatus == nil {
		return
	}
	owner := k.owner()
	s.notices = &notices{clock: k.clock, out: s.out, unknown: err, run: notify.Run{
		Environment: s.env.Name(), Cluster: s.env.Infrastructure.Cluster, Command: c.Command.Name,
		Run: owner.Run, Owner: s.out.clean(owner.Name), Begun: k.clock.now().UTC().Truncate(time.Second), Commit: s.commit, Link: k.job(),
	}.Began()}
	s.notices.notifier = notify.New(notify.Options{
		Targets: targets, Forge: k.forge(targets.CommitStatus), Commit: s.commit, OnlyHere: s.local,
		HTTP: k.http, Sleep: k.clock.sleep, Agent: "talosgen/" + version,
	})
}

// begin tells that the run begins.
func (n *notices) begin(ctx context.Context) { n.notifier.Begin(ctx, n.run) }

// forge is what the process's environment has of a forge.
func (k clusters) forge(status *schemas.StatusTarget) (f notify.Forge) {
	if status == nil {
		return f
	}
	f.Token = k.vars.secret(notify.TokenVariable[status.Forge])
	k.out.masker.Add(f.Token)
	switch status.Forge {
	case schemas.GitHub:
		f.API, f.Repository = k.vars.get("GITHUB_API_URL"), k.vars.get("GITHUB_REPOSITORY")
	case schemas.GitLab:
		f.API, f.Repository = k.vars.get("CI_API_V4_URL"), k.vars.get("CI_PROJECT_PATH")
	}
	return f
}

// job is the page of the job that this process is a part of, if its pipeline says so.
func (k clusters) job() string {
	link := k.vars.get("CI_JOB_URL")
	if run, repository := k.vars.get("GITHUB_RUN_ID"), k.vars.get("GITHUB_REPOSITORY"); run != "" && repository != "" {
		link = cmp.Or(k.vars.get("GITHUB_SERVER_URL"), "https://github.com") + "/" + repository + "/actions/runs/" + run
	}
	if !strings.HasPrefix(link, "https://") && !strings.HasPrefix(link, "http://") || k.out.clean(link) != link {
		return "" // somebody else has set it
	}
	return link
}

// plan notes what a plan is about.
func (n *notices) plan(p *apply.Plan) {
	if n != nil {
		counts := p.Counts()
		n.run.Counts = &counts
	}
}

// runOr is what the history knows this run by: a further part of it, such as the second
// change in a turn of a watch, has a name of its own.
func (n *notices) runOr(other string) string {
	if n == nil || n.recorded {
		return other
	}
	n.recorded = true
	return n.run.Run
}

// entry notes what the history has of this run, or of a part of it.
func (n *notices) entry(e ledger.Entry) {
	if n != nil {
		n.run.Changes += e.Changes
		n.run.Outcome, n.run.Plan = e.Outcome, cmp.Or(e.Plan, n.run.Plan)
	}
}

// end tells how the command ended, and warns if that does not go. A command that did not
// come to its end has crashed.
func (n *notices) end(ctx context.Context, err error, ended bool) {
	if n == nil || ended && n.reported != nil && n.reported.knows(err) {
		return
	}
	code := exitOf(ctx, err)
	if !ended {
		code = internalError
	}
	problems := n.notifier.End(ctx, n.run.End(code, n.clock.now().UTC().Truncate(time.Second)))
	if n.reported != nil && len(problems) < n.notifier.Targets() {
		n.reported.report(err)
	}
	if n.unknown != nil {
		problems = []error{errors.New("it is not known who is to be told: " + n.out.clean(n.unknown.Error()))}
	}
	if len(problems) > 0 {
		var texts []string
		for _, p := range problems {
			texts = append(texts, n.out.clean(p.Error()))
		}
		n.out.warn("notifications: not all were told of this run: %s", strings.Join(texts, "; "))
	}
}
