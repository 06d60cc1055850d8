package main

import (
	"context"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/ledger"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/diag"
)

// endRun reports what a run did, keeps what it learned, and returns its error.
func (s *session) endRun(c *cli.Context, r *apply.Report, err error) error {
	ended := err
	if interrupted := c.Context.Err(); interrupted != nil {
		ended = interrupted
	}
	summary := r.Summary(ended, s.commands(c))
	unprinted := s.printSummary(c, summary) // which hides neither of the others
	if lost := s.timeline.write(summary, c.Command.Name); lost != nil {
		s.out.warn("%s", s.out.clean(lost.Error()))
	}
	s.recordRun(c, ledger.Entry{}, r, ended)
	s.reportFacts(s.facts, "so that these machines are never taken for new ones")
	if err != nil && !summary.Complete() {
		return err
	}
	var problems diag.List
	problems.AddErr(err)
	problems.AddErr(s.saveFacts(r))
	problems.AddErr(unprinted)
	return problems.Err()
}

// recordRun adds a run to the history that the cluster keeps. Without it the run is
// done all the same.
func (s *session) recordRun(c *cli.Context, e ledger.Entry, r *apply.Report, ended error) {
	owner := s.owner()
	e.Owner, e.Run, e.Command = s.out.clean(owner.Name), s.notices.runOr(owner.Run), c.Command.Name
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context), recordWithin)
	defer cancel()
	e, err := s.Record(ctx, e, r, ended)
	s.notices.entry(e)
	if err != nil {
		s.out.warn("history: this run is not recorded in the cluster: %s", s.out.clean(err.Error()))
	}
}

// recordWithin is how long it may take, also after an interrupt.
const recordWithin = 20 * time.Second

// printSummary prints the report of a run: as JSON to stdout, or as text to stderr.
func (s *session) printSummary(c *cli.Context, summary summary.Summary) error {
	if forPrograms(c) {
		return s.out.printValue(c, summary)
	}
	s.out.say("%s", strings.TrimRight(summary.String(), "\n"))
	return nil
}
