package main

import "github.com/urfave/cli/v2"

// mermaid is a value of the flag --output of graph.
const mermaid = "mermaid"

// graphCommand draws an environment.
type graphCommand struct {
	ws  workspace
	out *console
}

func (g graphCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "graph",
		Usage:     "draw a diagram of an environment",
		ArgsUsage: "<env>",
		Description: `Prints a diagram of rendered/<env>: the network with its subnets, servers by pool,
load balancers, the NAT gateway and firewalls, allowed sources of traffic, and the
addons in the order in which they are deployed. Needs no key. Equal trees give
equal diagrams, so a diagram can be committed beside its tree.

Examples:
   talosgen graph prod > prod.svg
   talosgen graph prod -o mermaid`,
		Flags:  []cli.Flag{formatFlag("diagram", "svg", mermaid)},
		Action: g.run,
	}
}

func (g graphCommand) run(c *cli.Context) error {
	env, err := g.ws.environment(c)
	if err != nil {
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
	if c.String(flagOutput) == mermaid {
		return g.out.printData(picture.Mermaid())
	}
	return g.out.printData(picture.SVG())
}
