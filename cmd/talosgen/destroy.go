package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
)

const (
	flagYesDestroy = "yes-destroy"
	flagAllowMade  = "allow-made"
)

// destroyCommand removes a cluster.
type destroyCommand struct{ clusters clusters }

func (d destroyCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "destroy",
		Usage:     "destroy a cluster at Hetzner Cloud",
		ArgsUsage: "<env>",
		Description: `Shows the plan, asks for the name of the cluster, and removes all objects with the
labels of the cluster, and no others in the project. Objects that the cluster
itself created (load balancers of services, volumes, servers of the autoscaler)
are listed, and removed with consent only. Snapshots and data on volumes are lost.
Controllers that create servers and load balancers are stopped first: the
Kubernetes API is reached as by apply.

If the same commit is applied again, the cluster has the same identity.

Examples:
   talosgen destroy dev                    show, ask for the name, remove
   talosgen destroy dev --yes-destroy dev --allow-made
                                           do not ask, as in CI`,
		Flags: sessionFlags(append(nodeFlags(), // the way to the Kubernetes API, to stop controllers
			&cli.StringFlag{Name: flagYesDestroy, Usage: "confirm with the `NAME` of the cluster; removes protection"},
			&cli.StringSliceFlag{Name: flagAllow, Usage: "also remove the object `NAME` that the cluster created (repeatable)"},
			&cli.BoolFlag{Name: flagAllowMade, Usage: "also remove all objects that the cluster created: load balancers, volumes, servers"},
			timelineFlag(), outputFlag())...),
		Action: d.run,
	}
}

func (d destroyCommand) run(c *cli.Context) error {
	return d.clusters.use(c, func(s *session) error {
		d.clusters.begin(c, s)
		return d.destroy(c, s)
	})
}

// destroy plans, asks, and executes the plan.
func (d destroyCommand) destroy(c *cli.Context, s *session) error {
	cluster := s.env.Infrastructure.Cluster
	if name := c.String(flagYesDestroy); name != "" && name != cluster {
		return diag.On("--"+flagYesDestroy, "the cluster of %s is named %s, not %s", s.env.Name(), cluster, name).WithCode(diag.Usage)
	}
	agreed := apply.Policy{Consent: plan.Consent{
		Allow: c.StringSlice(flagAllow), AllowMade: c.Bool(flagAllowMade), Unprotect: c.String(flagYesDestroy),
		Environment: s.env.Name(),
	}}
	p, err := s.PlanDestroy(c.Context, agreed)
	if err != nil {
		return err
	}
	if !forPrograms(c) {
		s.view.line(strings.TrimRight(p.String(), "\n"))
	}
	if agreed.Unprotect == "" {
		if p, agreed, err = d.agree(c, s, p, agreed); err != nil {
			return err
		}
	}
	s.notices.plan(p)
	report, err := s.Apply(c.Context, p, agreed, d.clusters.owner())
	s.stop()
	return s.endRun(c, report, err)
}

// agree asks for the name of the cluster, and about what the cluster
// made. It returns the plan, from the same observation, with that consent.
func (d destroyCommand) agree(c *cli.Context, s *session, p *apply.Plan, agreed apply.Policy) (*apply.Plan, apply.Policy, error) {
	cluster := s.env.Infrastructure.Cluster
	withMade := agreed
	withMade.AllowMade = true
	all, err := p.AgreedToDestroy(withMade)
	if err != nil || len(all.Changes) == 0 {
		return p, agreed, err
	}
	if !s.out.answers {
		if len(p.Changes) == 0 {
			return p, agreed, nil // what is left, needs consent that was not given
		}
		return nil, agreed, diag.On("", "cannot ask for the name of the cluster without a terminal").
			WithHint("--%s %s answers it", flagYesDestroy, cluster).WithCode(diag.Usage)
	}
	s.view.clear()
	if len(all.Changes) > len(p.Changes) && s.out.yes(c.Context, "also remove objects that the cluster itself created, with the data on volumes?") {
		agreed = withMade
	} else if len(p.Changes) == 0 {
		return p, agreed, nil
	}
	fmt.Fprintf(s.out.stderr, "type the name of the cluster (%s) to remove it: ", cluster)
	answer, err := s.out.readAnswer(c.Context)
	if err != nil || answer != cluster {
		return nil, agreed, diag.On("", "nothing was changed").WithCode(diag.Differences)
	}
	agreed.Unprotect = answer
	p, err = p.AgreedToDestroy(agreed)
	return p, agreed, err
}
