package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
)

const nameTry = "try"

// tryCommand applies an environment to a simulated project.
type tryCommand struct{ app *app }

func (t tryCommand) command() *cli.Command {
	return &cli.Command{
		Name:         nameTry,
		Usage:        "watch what apply would do from nothing, on a simulated project with simulated nodes",
		ArgsUsage:    "<env>",
		BashComplete: t.app.workspace().completeEnvironments(false),
		Description: `Takes rendered/<env> and does what the first apply does: the plan with its cost,
images, the infrastructure, configurations, the bootstrap of etcd, Kubernetes,
and the report at the end. It talks to a simulated Hetzner Cloud project, or to
simulated machines that wait for their configuration, within this process: there
is nothing to pay, no token, no SSH key, no network and nothing to clean up.

Time is simulated too: minutes pass in no time. How long things take is what is
usual at Hetzner and of small machines, so the times are those to expect.

Examples:
   talosgen try dev
   talosgen try dev --stage infrastructure   only servers and networks
   talosgen try dev --verbose                with every request to Hetzner
   talosgen try dev -o json                  the report, for a program`,
		Flags: []cli.Flag{
			stageFlag(), outputFlag(), verboseFlag(),
			// What is not real may be changed without a question, and be tried before
			// it is committed.
			&cli.BoolFlag{Name: flagYes, Value: true, Hidden: true},
			&cli.BoolFlag{Name: flagAllowDirty, Value: true, Hidden: true},
		},
		Action: t.run,
	}
}

func (t tryCommand) run(c *cli.Context) error {
	name, err := t.app.workspace().environment(c)
	if err != nil {
		return err
	}
	agreed := apply.Policy{}
	if agreed.Stages, err = stages(c); err != nil {
		return err
	}
	site, err := newTrySite(c, t.app, name)
	if err != nil {
		return err
	}
	defer site.close()
	return site.app(t.app).clusters().useOf(c, name, func(s *session) error {
		s.out.say("%s", site.about())
		p, err := s.Plan(c.Context, agreed)
		if err != nil {
			return err
		}
		if err := s.carryOut(c, p, agreed); err != nil {
			return err
		}
		s.out.say("this was a simulation: nothing was made, and nothing is left")
		return nil
	})
}
