package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

// endRun reports what a run did, keeps what it learned, and returns its error.
func (s *session) endRun(c *cli.Context, r *apply.Report, err error) error {
	ended := err
	if interrupted := c.Context.Err(); interrupted != nil {
		ended = interrupted
	}
	told := r.Summary(ended, s.commands(c))
	unheard := s.tell(c, told) // which hides neither of the others
	s.tellFacts(s.facts, "so that these machines are never taken for new ones")
	if err != nil && !told.Complete() {
		return err
	}
	var problems diag.List
	problems.AddErr(err)
	problems.AddErr(s.keepFacts(r))
	problems.AddErr(unheard)
	return problems.Err()
}

// tell prints the report of a run: for programs to stdout, if they asked for it, and
// for people to stderr.
func (s *session) tell(c *cli.Context, told apply.Summary) error {
	if wantsJSON(c) {
		return s.out.printJSON(told)
	}
	s.out.say("%s", strings.TrimRight(told.String(), "\n"))
	return nil
}
