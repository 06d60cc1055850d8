package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/natural"
)

func takeoverCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "takeover",
		Usage:        "give fields that kubectl, Helm, Terraform or an older run own to the owner in Git",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
		Description: `A field that somebody applied stays theirs: what Git removes later stays in the
cluster for ever, and what Git changes is a conflict. This shows, for every
object of rendered/<env> that is there, which fields belong to programs that
nothing runs any more (kubectl, Helm, Terraform, talosgen for what is Flux's
now), asks, and makes them those of the owner that Git names. Objects stay as
they are; what Git does not have goes when the owner applies them next: Flux by
itself, talosgen with the next apply.

Controllers keep their fields. So does whoever is not known: see the conflicts
that plan reports. Only one takeover or apply of a cluster is at work at a time.

Examples:
   talosgen takeover prod                what would change hands? then ask
   talosgen takeover prod --yes          do not ask
   talosgen takeover prod -o json --plan only show it
   talosgen takeover prod --server https://127.0.0.1:6443   through a tunnel`,
		Flags: clusterFlags(
			&cli.BoolFlag{Name: flagYes, Usage: "make the changes without asking"},
			&cli.BoolFlag{Name: "plan", Usage: "show what there is to do, and end; exits 1 if there is something"}),
		Action: w.takeoverAction,
	}
}

func (w *world) takeoverAction(c *cli.Context) error {
	s, err := w.openSession(c)
	if err != nil {
		return err
	}
	defer w.end(c, s)
	return s.AtCluster(c.Context, c.String(flagServer), func(cluster *apply.Cluster) error { return w.takeOver(c, s, cluster) })
}

// takeOver shows what there is to do, asks, and does it.
func (w *world) takeOver(c *cli.Context, s *cloudSession, cluster *apply.Cluster) error {
	p, err := cluster.PlanTakeover(c.Context)
	if err != nil {
		return err
	}
	if err := w.printTakeover(c, s, p); err != nil || len(p.Changes()) == 0 && !p.Refused() {
		return err
	}
	if c.Bool("plan") {
		return errDifferences
	}
	if err := p.Problems(); err != nil {
		return err
	}
	if err := w.agree(c, s.view, "make these changes?"); err != nil {
		return err
	}
	done, err := cluster.TakeOver(c.Context, p, w.owner())
	s.stop()
	w.say("%s", natural.Count(len(done), "object"))
	return err
}

// printTakeover shows the plan: to programs on stdout, and to those who are
// asked before the question.
func (w *world) printTakeover(c *cli.Context, s *cloudSession, p *apply.KubernetesPlan) error {
	if wantsJSON(c) {
		text, err := p.JSON()
		if err != nil {
			return err
		}
		return w.printData(text)
	}
	if c.Bool("plan") {
		return w.printText(p.String())
	}
	s.view.line(strings.TrimRight(p.String(), "\n"))
	return nil
}
