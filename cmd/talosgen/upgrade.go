package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// upgradeCommand brings nodes to the versions that Git has.
type upgradeCommand struct{ clusters clusters }

func (u upgradeCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "upgrade",
		Usage:     "upgrade Talos and Kubernetes to the versions in rendered/<env>",
		ArgsUsage: "<env> | --all | --env <env>,<env>",
		Description: `Shows the plan, asks for approval, and upgrades one minor version at a time. First
Talos: images are pulled on all nodes, etcd is saved, then each control plane node
is drained, upgraded, rebooted and verified, the leader of etcd last; then one
worker, then the others; then nodes of the autoscaler. Then Kubernetes: each
program of each control plane, then the kubelets. Workers that are due for both are
drained once. Nothing is disturbed while a node or etcd is not healthy. The first
failure stops the upgrade.

It may be interrupted at any time; run again, it continues. What is risky needs
consent by the ID that the plan shows. Several environments take turns, in the order
of --env; the first that is not done ends it.

Examples:
   talosgen upgrade prod --plan         show the plan only
   talosgen upgrade prod                plan, ask, upgrade
   talosgen upgrade prod --until first  upgrade one control plane node only
   talosgen upgrade prod --max-parallel 3 --yes
                                        three workers at a time, do not ask
   talosgen upgrade prod --allow C-no-return
                                        with consent to a risk
   talosgen upgrade prod --retry prod-worker-2
                                        try a node again that failed
   talosgen upgrade prod --rollback --node prod-control-plane-1
                                        back to the Talos that it ran before
   talosgen upgrade --all --plan        show the plans of all environments
   talosgen upgrade --env staging,prod  prod only after staging is done`,
		Flags:  sessionFlags(manyFlags(append(nodeFlags(), upgradeFlags()...)...)...),
		Action: u.run,
	}
}

func (u upgradeCommand) run(c *cli.Context) error {
	policy, err := upgradePolicy(c)
	if err != nil {
		return err
	}
	how := many{one: append(flagsOfOne(), flagRetry, flagTimeline), inTurn: !c.Bool(flagPlanOnly)}
	return u.clusters.each(c, how, func(k clusters, env string) error {
		return k.useOf(c, env, func(s *session) error {
			if !c.Bool(flagPlanOnly) {
				k.begin(c, s)
			}
			return u.upgrade(c, s, policy)
		})
	})
}

// upgrade plans, asks and upgrades.
func (u upgradeCommand) upgrade(c *cli.Context, s *session, policy upgradeplan.Policy) error {
	upgrader := apply.NewUpgrader(s.Session, policy)
	p, err := upgrader.Plan(c.Context)
	if err != nil {
		return err
	}
	if err := s.CheckTree(c.Context); err != nil {
		return err
	}
	if c.Bool(flagPlanOnly) {
		return s.showUpgrade(c, p)
	}
	s.warn(s.stale)
	if !forPrograms(c) {
		s.view.line(strings.TrimRight(p.String(), "\n"))
	}
	if p.Executable() && !p.Empty() {
		question := "upgrade these nodes?"
		if policy.Rollback {
			question = "bring these nodes back to the Talos of before?"
		}
		if err := s.out.agree(c, s.view, question); err != nil {
			return err
		}
	}
	report, err := upgrader.Run(c.Context, p, u.clusters.owner())
	s.stop()
	return s.endRun(c, report, err)
}

// showUpgrade prints a plan, and nothing else happens. The exit code says whether there
// is anything to do; it is not known of nodes that are not reached.
func (s *session) showUpgrade(c *cli.Context, p *upgradeplan.Plan) error {
	s.stop()
	show := func() error { return s.out.printReport(p.String()) }
	if forPrograms(c) {
		show = func() error { return s.out.printValue(c, p) }
	}
	if err := show(); err != nil {
		return err
	}
	if p.Empty() && len(p.Refusals) == 0 {
		return p.LeftUnreached()
	}
	return errDifferences
}
