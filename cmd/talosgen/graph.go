package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/plan"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// mermaid is a value of the flag --output of graph.
const mermaid = "mermaid"

// graphCommand draws an environment.
type graphCommand struct {
	ws       workspace
	out      *console
	clusters clusters
}

const (
	flagLive = "live"
	flagPlan = "plan"
)

func (g graphCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "graph",
		Usage:     "draw a diagram of an environment",
		ArgsUsage: "<env>",
		Description: `Prints a diagram of rendered/<env>: the network with its subnets, servers by pool,
load balancers, the NAT gateway and firewalls, allowed sources of traffic, and the
addons in the order in which they are deployed. Needs no key. Equal trees give
equal diagrams, so a diagram can be committed beside its tree.

With --live it plans as plan does, and marks what apply would add, change, replace
and destroy, and what exists and is not in the tree. With --keyless it compares
with Hetzner Cloud only, and needs no key. With --plan it marks the same by a plan
that was saved by ` + "`talosgen plan --out`" + `, and needs neither a key nor a network.

Examples:
   talosgen graph prod > prod.svg
   talosgen graph prod -o mermaid
   talosgen graph prod --live > changes.svg
   talosgen graph prod --plan plan.json > changes.svg`,
		Flags: sessionFlags(append(nodeFlags(), choiceOfFormats("diagram", "svg", mermaid),
			&cli.BoolFlag{Name: flagLive, Usage: "mark what differs from what exists"},
			&cli.StringFlag{Name: flagPlan, Usage: "mark what the plan saved in `FILE` would change"},
			&cli.BoolFlag{Name: flagKeyless, Usage: "with --live: compare the infrastructure only, without any key"})...),
		Action: g.run,
	}
}

func (g graphCommand) run(c *cli.Context) error {
	env, err := g.ws.environment(c)
	if err != nil {
		return err
	}
	if err := checkMarks(c); err != nil {
		return err
	}
	repo, err := g.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	picture, err := repo.Graph(env)
	if err != nil {
		return err
	}
	switch file := c.String(flagPlan); {
	case c.Bool(flagLive):
		err = g.markLive(c, env, picture)
	case file != "":
		err = markSaved(file, repo.Root(), env, picture)
	}
	if err != nil {
		return err
	}
	if c.String(flagOutput) == mermaid {
		return g.out.printData(picture.Mermaid())
	}
	return g.out.printData(picture.SVG())
}

// checkMarks refuses flags that do not go together.
func checkMarks(c *cli.Context) error {
	if c.Bool(flagKeyless) && !c.Bool(flagLive) {
		return diag.On("--"+flagKeyless, "a tree is drawn without any key").WithHint("it is for --%s", flagLive).WithCode(diag.Usage)
	}
	if c.Bool(flagLive) && c.IsSet(flagPlan) {
		return diag.On("--"+flagPlan, "not together with --%s", flagLive).WithHint("one plans now, the other draws what was planned").WithCode(diag.Usage)
	}
	return nil
}

// markLive plans, and draws what becomes of which object.
func (g graphCommand) markLive(c *cli.Context, env string, picture *render.Picture) error {
	return g.clusters.useOf(c, env, func(s *session) error {
		s.noteKeyless()
		p, err := s.Plan(c.Context, apply.Policy{Mode: nodeplan.Auto, MaxParallel: 1})
		s.stop()
		if err != nil {
			return err
		}
		mark(picture, p.Objects())
		return p.Unseen()
	})
}

// markSaved draws what becomes of which object by a saved plan.
func markSaved(file, root, env string, picture *render.Picture) error {
	saved, err := readPlan(file)
	if err != nil {
		return err
	}
	infra, err := renderedInfrastructure(root, env)
	if err != nil {
		return err
	}
	objects, err := saved.Objects(file, infra)
	if err != nil {
		return err
	}
	mark(picture, objects)
	return nil
}

func mark(picture *render.Picture, objects map[plan.Key]string) {
	marks := map[string]render.Become{}
	for key, become := range objects {
		marks[string(key)] = render.Become(become)
	}
	picture.Mark(marks)
}
