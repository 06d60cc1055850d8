package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/natural"
)

// takeoverCommand gives fields to the owner that Git names.
type takeoverCommand struct{ clusters clusters }

func (t takeoverCommand) command() *cli.Command {
	return &cli.Command{
		Name:         "takeover",
		Usage:        "give fields that kubectl, Helm, Terraform or an older run own to the owner in Git",
		ArgsUsage:    "<env>",
		BashComplete: t.clusters.ws.completeEnvironments(false),
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
		Action: t.run,
	}
}

func (t takeoverCommand) run(c *cli.Context) error {
	return t.clusters.use(c, func(s *session) error {
		return s.AtCluster(c.Context, c.String(flagServer), func(cluster *apply.Cluster) error { return t.takeOver(c, s, cluster) })
	})
}

// takeOver shows what there is to do, asks, and does it.
func (t takeoverCommand) takeOver(c *cli.Context, s *session, cluster *apply.Cluster) error {
	p, err := cluster.PlanTakeover(c.Context)
	if err != nil {
		return err
	}
	if err := t.print(c, s, p); err != nil || len(p.Changes()) == 0 && !p.Refused() {
		return err
	}
	if c.Bool("plan") {
		return errDifferences
	}
	if err := p.Problems(); err != nil {
		return err
	}
	if err := s.out.agree(c, s.view, "make these changes?"); err != nil {
		return err
	}
	done, err := cluster.TakeOver(c.Context, p, t.clusters.owner())
	s.stop()
	s.out.say("%s", natural.Count(len(done), "object"))
	return err
}

// print shows the plan: to programs on stdout, and to those who are
// asked before the question.
func (t takeoverCommand) print(c *cli.Context, s *session, p *apply.KubernetesPlan) error {
	if wantsJSON(c) {
		text, err := p.JSON()
		if err != nil {
			return err
		}
		return s.out.printData(text)
	}
	if c.Bool("plan") {
		return s.out.printText(p.String())
	}
	s.view.line(strings.TrimRight(p.String(), "\n"))
	return nil
}
