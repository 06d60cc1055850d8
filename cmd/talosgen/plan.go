package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
)

// planCommand shows what apply would change.
type planCommand struct{ clusters clusters }

func (p planCommand) command() *cli.Command {
	return &cli.Command{
		Name:         "plan",
		Usage:        "show what apply would change, and what that costs",
		ArgsUsage:    "<env>",
		BashComplete: p.clusters.ws.completeEnvironments(false),
		Description: `Compares rendered/<env> with what there is at Hetzner Cloud, on the nodes and in
Kubernetes, and changes nothing. To look at nodes, your address is let in for
that long, where access in cluster.yaml says so. Exits 1 if there is something to
do, or something that must not be done.

The token of the project is in $` + tokenVariable + `, or else in the rendered tree.

With --keyless no key is looked for, as in a pipeline that runs what a branch brings
along. Then it is not known whether an operator rendered the tree, nodes and
Kubernetes are not looked at, and the plan cannot be kept.

Examples:
   talosgen plan prod                  what would be done?
   talosgen plan prod --keyless        what would change at Hetzner?
   talosgen plan prod --out plan.json  keep the plan, for apply --plan
   talosgen plan prod --allow prod-worker-3
                                       with consent to destroy one server`,
		Flags: sessionFlags(append(policyFlags(),
			&cli.BoolFlag{Name: "destroy", Usage: "what destroy would remove"},
			&cli.StringFlag{Name: "out", Usage: "write the plan to `FILE`; it holds no secrets"},
			&cli.BoolFlag{Name: flagKeyless, Usage: "the infrastructure alone, with $" + tokenVariable + ", which may only read, and without any key"},
			outputFlag())...),
		Action: p.run,
	}
}

func (p planCommand) run(c *cli.Context) error {
	agreed, err := policy(c)
	if err != nil {
		return err
	}
	if err := checkKeyless(c); err != nil {
		return err
	}
	return p.clusters.use(c, func(s *session) error { return p.plan(c, s, agreed) })
}

// plan plans, and shows the plan.
func (planCommand) plan(c *cli.Context, s *session, agreed apply.Policy) error {
	if s.env.Keyless() {
		s.out.note("no key was used: whether an operator rendered this tree is not known, and only the infrastructure is compared")
	}
	make := s.Plan
	if c.Bool("destroy") {
		make = s.PlanDestroy
	}
	plan, err := make(c.Context, agreed)
	s.stop()
	if err != nil {
		return err
	}
	if file := c.String("out"); file != "" {
		if err := savePlan(file, plan); err != nil {
			return err
		}
	}
	if err := printPlan(c, s, plan); err != nil {
		return err
	}
	if !c.Bool("destroy") {
		s.warn(s.stale)
		if !plan.Empty() {
			s.warn(s.env.ClosedToAll())
		}
	}
	s.sayRequests()
	if !plan.Empty() || plan.Refused() || plan.Edited() != nil {
		return errDifferences
	}
	var problems diag.List
	problems.AddErr(plan.Unsent())
	problems.AddErr(plan.Unseen())
	return problems.Err()
}

// flagKeyless is of plan alone: everything else needs keys.
const flagKeyless = "keyless"

// checkKeyless refuses what needs a key beside --keyless.
func checkKeyless(c *cli.Context) error {
	if !c.Bool(flagKeyless) {
		return nil
	}
	for _, flag := range []string{"out", flagNode, "destroy"} {
		if c.IsSet(flag) {
			return diag.On("--"+flagKeyless, "not together with --%s", flag).
				WithHint("a tree whose seal nobody verified is compared with what there is at Hetzner, and nothing else").WithCode(diag.Usage)
		}
	}
	return nil
}

// printPlan prints a plan to stdout.
func printPlan(c *cli.Context, s *session, p *apply.Plan) error {
	if !wantsJSON(c) {
		return s.out.printText(p.String())
	}
	data, err := p.JSON()
	if err != nil {
		return err
	}
	return s.out.printData(data)
}

// savePlan writes a plan to a file, for apply --plan.
func savePlan(file string, p *apply.Plan) error {
	data, err := p.Save()
	if err != nil {
		return err
	}
	if _, err := atomicfile.Write(file, data, 0o644); err != nil {
		return diag.New(diag.Pos{File: file}, "cannot be written: %v", reasonOf(err)).WithCause(err)
	}
	return nil
}
