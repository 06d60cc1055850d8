package main

import (
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

// applyCommand makes a cluster what its rendered tree says.
type applyCommand struct{ clusters clusters }

func (a applyCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "apply rendered/<env> to Hetzner Cloud, the nodes and Kubernetes",
		ArgsUsage: "<env> | --all | --env <env>,<env>",
		Description: `Shows the plan, asks for approval, executes the plan and verifies the result. It
may be interrupted at any time; run again, it continues. A lock keeps other runs
out. Changes that destroy something or power a server off need consent by name.
Nodes leave the cluster before their servers are deleted. Control plane nodes
reboot one at a time, and the cluster must be healthy before the next one. etcd is
bootstrapped once. Missing images are built first, as by ` + "`talosgen image build`" + `.
Public addresses are written to envs/<env>/facts.yaml, to be committed. Several
environments take turns, in the order of --env; the first that is not done ends it.

The token of the project is read from $` + tokenVariable + `, or else from the rendered tree.

Examples:
   talosgen apply prod                   plan, ask, apply
   talosgen apply prod --yes             do not ask, as in CI
   talosgen apply prod --plan plan.json  apply a saved plan
   talosgen apply prod --mode no-reboot  skip changes that need a reboot
   talosgen apply prod --node prod-worker-1
                                         change one node only
   talosgen apply prod --recover-from prod-etcd-20261121T210509Z.db.age
                                         restore etcd from a snapshot
   talosgen apply prod --allow server/prod-worker-3
                                         with consent to destroy one server
   talosgen apply --env staging,prod     prod only after staging is done`,
		Flags: sessionFlags(append(append(policyFlags(), allFlags()...),
			&cli.StringFlag{Name: flagRecoverFrom, Usage: "restore etcd from the snapshot `FILE`; only if no control plane node has an etcd"},
			&cli.BoolFlag{Name: flagYes, Usage: "do not ask for approval"},
			&cli.StringFlag{Name: flagPlan, Usage: "apply the plan saved in `FILE`, if it is not stale"},
			imageURLFlag(), timelineFlag(), outputFlag())...),
		Action: a.run,
	}
}

func (a applyCommand) run(c *cli.Context) error {
	agreed, err := policy(c)
	if err != nil {
		return err
	}
	how := many{one: append(flagsOfOne(), flagPlan, flagRecoverFrom, flagTimeline), inTurn: true}
	return a.clusters.each(c, how, func(k clusters, env string) error {
		return k.useOf(c, env, func(s *session) error {
			k.begin(c, s)
			return a.apply(c, s, agreed)
		})
	})
}

// apply plans, or takes the saved plan, and executes it.
func (a applyCommand) apply(c *cli.Context, s *session, agreed apply.Policy) error {
	p, err := planToApply(c, s, agreed)
	if err != nil {
		return err
	}
	s.found.plan(p)
	s.notices.plan(p)
	s.warn(s.stale)
	return s.carryOut(c, p, agreed)
}

// carryOut shows a plan, asks, makes the changes and reports.
func (s *session) carryOut(c *cli.Context, p *apply.Plan, agreed apply.Policy) error {
	if !forPrograms(c) {
		s.view.line(strings.TrimRight(p.String(), "\n"))
	}
	if err := s.CheckRecovery(c.Context, p); err != nil {
		return err
	}
	if !p.Empty() && p.Executable() {
		if err := s.preflight(c, p); err != nil {
			return err
		}
		if err := s.out.agree(c, s.view, "make these changes?"); err != nil {
			return err
		}
	}
	report, err := s.Apply(c.Context, p, agreed, s.owner())
	s.stop()
	return s.endRun(c, report, err)
}

// planToApply is a new plan, or the one that was kept.
func planToApply(c *cli.Context, s *session, agreed apply.Policy) (*apply.Plan, error) {
	file := c.String(flagPlan)
	if file == "" {
		return s.Plan(c.Context, agreed)
	}
	saved, err := readPlan(file)
	if err != nil {
		return nil, err
	}
	if saved.Plan.Destroy {
		return nil, diag.New(diag.Pos{File: file}, "it is a plan for destroy").
			WithHint("`talosgen destroy` makes its own plan and asks for the name of the cluster").WithCode(diag.Usage)
	}
	return s.Resume(c.Context, saved, agreed)
}

// readPlan reads a saved plan.
func readPlan(file string) (*apply.Saved, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	return apply.LoadPlan(file, text)
}
