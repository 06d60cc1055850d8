package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
)

// session is an environment and its project, as a command uses them.
type session struct {
	*apply.Session
	root      string // of the repository
	env       *apply.Environment
	out       *console
	args      []string // of the command
	view      *runView
	stop      func() // of the view
	owner     func() apply.Owner
	addresses publicAddress
	facts     *repoFacts           // of machines that exist already; nil: they are not kept
	local     bool                 // the API is on this machine
	stale     []preflight.Finding  // that sources are newer than the tree
	hears     func(progress.Event) // of a rehearsal; nil: nobody does
	timeline  *timelineFile        // nil: nobody asks for it
	commit    string               // that the tree is from; empty if it is in none as it is
	notices   *notices             // of this run; nil: nobody is told
	found     *outcome             // what is told of it beside other environments; may be nil
}

// connect connects the session. If that fails it needs no end.
func (s *session) connect(c *cli.Context, cloud apply.Cloud) (err error) {
	s.view.left = func() int {
		if s.Session == nil {
			return -1
		}
		_, left := s.Requests()
		return left
	}
	cloud.Notify = func(e progress.Event) {
		s.view.event(e)
		s.timeline.hear(e)
		if s.hears != nil {
			s.hears(e)
		}
	}
	if c.Bool(flagVerbose) {
		cloud.Log = s.view.line
	}
	s.stop = s.view.start()
	if s.Session, err = s.env.Connect(c.Context, cloud); err != nil {
		s.stop()
	}
	return err
}

// end ends a session when its command has ended with err, and returns the error of
// both. What cannot be taken back is an error of a command that went well
// otherwise, and is reported beside any other.
func (s *session) end(ctx context.Context, err error) error {
	s.stop()
	left := s.Close(ctx)
	if left == nil {
		return err
	}
	if ctx.Err() == nil && (err == nil || errors.Is(err, errDifferences)) {
		return left
	}
	s.out.printError(left)
	return err
}

// own are the public addresses of this machine.
func (s *session) own(ctx context.Context) []netip.Addr {
	if s.local {
		return simulatedOwn
	}
	return s.addresses.find(ctx)
}

// preflight checks what apply is about to do, and prints what is wrong or worth
// knowing.
func (s *session) preflight(c *cli.Context, p *apply.Plan) error {
	findings, err := s.Check(c.Context, p, s.own(c.Context))
	if err != nil {
		return err
	}
	s.warn(findings)
	return preflight.Failures(findings)
}

// warn prints those findings that are warnings.
func (s *session) warn(findings []preflight.Finding) {
	for _, f := range findings {
		if f.State == preflight.Warning {
			text := s.out.colour(yellow, "warning:") + " " + f.Check + ": " + f.Text
			if f.Hint != "" {
				text += "\n  " + f.Hint
			}
			s.view.line(text)
		}
	}
}

// sayRequests says how much of the rate limit was used.
func (s *session) sayRequests() {
	made, left := s.Requests()
	switch {
	case made == 0:
	case left < 0:
		s.out.say("%s", natural.Count(made, "request"))
	default:
		s.out.say("%s, %d left in this hour", natural.Count(made, "request"), left)
	}
}

// showNodes shows what has to be done with nodes.
func (s *session) showNodes(c *cli.Context, p *nodeplan.Plan) {
	if !forPrograms(c) {
		s.view.line(strings.TrimRight(p.String(), "\n"))
	}
}

// agreeByName asks for a name as approval, unless a flag has it already.
func (s *session) agreeByName(c *cli.Context, name, given, flag, question string) error {
	if given == name {
		return nil
	}
	if !s.out.answers {
		return diag.On("", "cannot ask without a terminal for the name %s", name).WithHint("--%s %s answers it", flag, name).WithCode(diag.Usage)
	}
	s.view.clear()
	fmt.Fprint(s.out.stderr, question)
	answer, err := s.out.readAnswer(c.Context)
	if err != nil || answer != name {
		return diag.On("", "nothing was changed").WithCode(diag.Differences)
	}
	return nil
}
