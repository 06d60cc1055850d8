package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
)

// Flags of what whoever runs a command agrees to.
const (
	flagAllow         = "allow"
	flagAllowDestroy  = "allow-destroy"
	flagAllowPowerOff = "allow-power-off"
	flagAdopt         = "adopt"
	flagReplace       = "replace"
)

// policyFlags are those of plan and apply.
func policyFlags() []cli.Flag {
	return append(stageFlags(),
		&cli.StringSliceFlag{Name: flagAllow, Usage: "agree to destroying, or powering off, the object `NAME`; to a tree that is older than what was applied: older-tree (repeatable)"},
		&cli.BoolFlag{Name: flagAllowDestroy, Usage: "agree to everything that destroys something"},
		&cli.BoolFlag{Name: flagAllowPowerOff, Usage: "agree to everything that powers a server off"},
		&cli.StringSliceFlag{Name: flagAdopt, Usage: "take the object `NAME` over, which is there and not the cluster's (repeatable)"},
		&cli.StringSliceFlag{Name: flagReplace, Usage: "delete the server `NAME`, which is no node, and make it again (repeatable)"},
	)
}

func policy(c *cli.Context) (apply.Policy, error) {
	p := apply.Policy{Consent: apply.Consent{
		Allow:         c.StringSlice(flagAllow),
		AllowDestroy:  c.Bool(flagAllowDestroy),
		AllowPowerOff: c.Bool(flagAllowPowerOff),
		Adopt:         c.StringSlice(flagAdopt),
		Replace:       c.StringSlice(flagReplace),
	}}
	err := nodePolicy(c, &p)
	return p, err
}

func planCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "plan",
		Usage:        "show what apply would change, and what that costs",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
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
		Action: w.planAction,
	}
}

func (w *world) planAction(c *cli.Context) error {
	agreed, err := policy(c)
	if err != nil {
		return err
	}
	if err := checkKeyless(c); err != nil {
		return err
	}
	s, err := w.openSession(c)
	if err != nil {
		return err
	}
	defer w.end(c, s)
	if s.env.Keyless() {
		w.say("%s no key was used: whether an operator rendered this tree is not known, and only the infrastructure is compared", w.colour(yellow, "note:"))
	}
	make := s.Plan
	if c.Bool("destroy") {
		make = s.PlanDestroy
	}
	p, err := make(c.Context, agreed)
	s.stop()
	if err != nil {
		return err
	}
	if file := c.String("out"); file != "" {
		if err := savePlan(file, p); err != nil {
			return err
		}
	}
	if err := w.printPlan(c, p); err != nil {
		return err
	}
	if !c.Bool("destroy") {
		w.warn(s, s.stale)
		if !p.Empty() {
			w.warn(s, s.env.ClosedToAll())
		}
	}
	w.sayRequests(s)
	if !p.Empty() || p.Refused() || p.Edited() != nil {
		return errDifferences
	}
	var problems diag.List
	problems.AddErr(p.Unsent())
	problems.AddErr(p.Unseen())
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
func (w *world) printPlan(c *cli.Context, p *apply.Plan) error {
	if !wantsJSON(c) {
		return w.printText(p.String())
	}
	data, err := p.JSON()
	if err != nil {
		return err
	}
	return w.printData(data)
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

// sayRequests says how much of the rate limit was used.
func (w *world) sayRequests(s *cloudSession) {
	made, left := s.Requests()
	switch {
	case made == 0:
	case left < 0:
		w.say("%s", natural.Count(made, "request"))
	default:
		w.say("%s, %d left in this hour", natural.Count(made, "request"), left)
	}
}
