package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
)

// planCommand shows what apply would change.
type planCommand struct{ clusters clusters }

func (p planCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "show the changes that apply would make, and their cost",
		ArgsUsage: "<env> | --all | --env <env>,<env>",
		Description: `Compares rendered/<env> with Hetzner Cloud, the nodes and Kubernetes, and changes
nothing. To reach nodes it opens access for your address as long as it runs, if
access in cluster.yaml says so. Exits 1 if there are changes, or if a change is
refused.

The token of the project is read from $` + tokenVariable + `_<ENV>, with the name of the
environment in capitals and _ for -, else from $` + tokenVariable + `, or else from the
rendered tree.

--keyless needs no key, for pipelines that run on pull requests. The seal of the
tree is not verified, nodes and Kubernetes are left out, and the plan cannot be
saved.

Examples:
   talosgen plan prod                  show all changes
   talosgen plan prod --keyless        show changes at Hetzner
   talosgen plan prod --out plan.json  save the plan, for apply --plan
   talosgen plan prod --allow server/prod-worker-3
                                       with consent to destroy one server
   talosgen plan prod -o html > plan.html
                                       a page for a review
   talosgen plan --all --keyless -o markdown --since origin/main
                                       for a pull request: the plans, and
                                       what became of the rendered trees
   talosgen plan --all                 all environments, and a table of them`,
		Flags: sessionFlags(manyFlags(append(policyFlags(),
			&cli.BoolFlag{Name: "destroy", Usage: "show what destroy would remove"},
			&cli.StringFlag{Name: "out", Usage: "save the plan in `FILE`; it contains no secrets"},
			&cli.BoolFlag{Name: flagKeyless, Usage: "plan the infrastructure only, without any key; a read-only $" + tokenVariable + " is enough"},
			sinceFlag(), formatFlag("result", asPage, asMarkdown))...)...),
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
	if err := checkForms(c); err != nil {
		return err
	}
	return p.clusters.each(c, many{one: append(flagsOfOne(), "out")}, func(k clusters, env string) error {
		planned := k.useOf(c, env, func(s *session) error { return p.plan(c, s, agreed) })
		if errors.Is(planned, errNothingToCompare) {
			planned = nil
		}
		if err := k.foundSince(c, env); err != nil && (planned == nil || errors.Is(planned, errDifferences)) {
			return err
		}
		return planned
	})
}

// checkForms refuses forms of the result that do not fit the rest of the command line.
func checkForms(c *cli.Context) error {
	switch form := c.String(flagOutput); {
	case form == asPage && several(c):
		return diag.On("--"+flagOutput, "a page is about one environment").WithHint("name the environment in place of --%s and --%s", flagAll, flagEnv).WithCode(diag.Usage)
	case form == asMarkdown && !several(c):
		return errMarkdown(c)
	case form != asMarkdown && c.IsSet(flagSince):
		return diag.On("--"+flagSince, "it is for -o %s", asMarkdown).WithHint("`talosgen diff <env> --%s %s` shows it alone", flagSince, c.String(flagSince)).WithCode(diag.Usage)
	}
	return nil
}

// plan plans, and shows the plan.
func (planCommand) plan(c *cli.Context, s *session, agreed apply.Policy) error {
	s.noteKeyless()
	make := s.Plan
	if c.Bool("destroy") {
		make = s.PlanDestroy
	}
	plan, err := make(c.Context, agreed)
	s.stop()
	if err != nil {
		return err
	}
	s.found.plan(plan)
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
	problems.AddErr(plan.Waits())
	problems.AddErr(plan.Unsent())
	problems.AddErr(plan.Unseen())
	return problems.Err()
}

// noteKeyless says what a comparison without a key leaves out.
func (s *session) noteKeyless() {
	if s.env.Keyless() {
		s.out.note("no key was used: the seal of this tree is not verified, and only the infrastructure is compared")
	}
}

// asPage is the format of a page of HTML, for reviews.
const asPage = "html"

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
				WithHint("a tree without a verified seal is compared with Hetzner only").WithCode(diag.Usage)
		}
	}
	return nil
}

// printPlan prints a plan to stdout.
func printPlan(c *cli.Context, s *session, p *apply.Plan) error {
	switch c.String(flagOutput) {
	case asPage:
		return s.out.printDocument(string(p.HTML("Plan of " + s.env.Name())))
	case asMarkdown:
		s.found.section(planTitle(s.env, p), p.String())
		return nil
	}
	if !forPrograms(c) {
		return s.out.printReport(p.String())
	}
	return s.out.printValue(c, p.ForPrograms())
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
