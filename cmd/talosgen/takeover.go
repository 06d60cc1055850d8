package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/ledger"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/natural"
)

// takeoverCommand gives fields to the owner that Git names.
type takeoverCommand struct{ clusters clusters }

func (t takeoverCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "takeover",
		Usage:     "transfer fields owned by kubectl, Helm or Terraform to their owner in Git",
		ArgsUsage: "<env>",
		Description: `A field keeps the manager that applied it: if Git removes the field, it stays in
the cluster, and if Git changes it, there is a conflict. For every existing object
of rendered/<env> the command shows the fields of managers that are no longer used
(kubectl, Helm, Terraform, and talosgen for objects of Flux), asks for approval,
and transfers them to the owner in Git. Objects are unchanged. Fields that Git does
not have are removed when the owner applies them next: Flux by itself, talosgen
with the next apply.

Controllers and unknown managers keep their fields; plan reports their conflicts.
A lock keeps other runs out.

Examples:
   talosgen takeover prod                show the fields, ask, transfer
   talosgen takeover prod --yes          do not ask
   talosgen takeover prod -o json --plan only show them
   talosgen takeover prod --server https://127.0.0.1:6443   through a tunnel`,
		Flags: clusterFlags(
			&cli.BoolFlag{Name: flagYes, Usage: "do not ask for approval"},
			&cli.BoolFlag{Name: "plan", Usage: "only show the changes; exits 1 if there are changes"}),
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
	t.clusters.begin(c, s)
	if err := p.Problems(); err != nil {
		return err
	}
	if err := s.out.agree(c, s.view, "make these changes?"); err != nil {
		return err
	}
	done, err := cluster.TakeOver(c.Context, p, t.clusters.owner())
	s.stop()
	s.out.say("%s", natural.Count(len(done), "object"))
	outcome := summary.Done
	if err != nil {
		outcome = summary.Failed
	}
	if c.String(flagServer) == "" {
		s.recordRun(c, ledger.Entry{Changes: len(done), Outcome: string(outcome)}, nil, err)
	}
	return err
}

// print shows the plan: to programs on stdout, and to those who are
// asked before the question.
func (t takeoverCommand) print(c *cli.Context, s *session, p *kubeplan.Plan) error {
	if forPrograms(c) {
		return s.out.printValue(c, p)
	}
	if c.Bool("plan") {
		return s.out.printReport(p.String())
	}
	s.view.line(strings.TrimRight(p.String(), "\n"))
	return nil
}
