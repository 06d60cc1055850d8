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
		Name:      nameTry,
		Usage:     "run the first apply of an environment on a simulated project",
		ArgsUsage: "<env>",
		Description: `Does for rendered/<env> what the first apply does: the plan with its cost, images,
infrastructure, configurations, the bootstrap of etcd, Kubernetes, and the report.
The Hetzner Cloud project, or the machines, are simulated in this process: no
cost, no token, no SSH key, no network, and nothing to remove afterwards.

Time is simulated, too, and passes at once. Durations are those that are usual at
Hetzner with small machines.

Examples:
   talosgen try dev
   talosgen try dev --stage infrastructure   only servers and networks
   talosgen try dev --verbose                log every request to Hetzner
   talosgen try dev -o json                  print the report as JSON`,
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
		s.warn(s.stale)
		p, err := s.Plan(c.Context, agreed)
		if err != nil {
			return err
		}
		if err := s.carryOut(c, p, agreed); err != nil {
			return err
		}
		s.out.say("this was a simulation: no resources were created")
		return nil
	})
}
