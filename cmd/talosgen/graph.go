package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// pictureFormats are the values of the flag --output of graph.
var pictureFormats = []string{"svg", "mermaid"}

func graphCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "graph",
		Usage:        "draw an environment",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
		Description: `Draws what rendered/<env> describes, and prints the picture: the network with
its subnets, servers by pool, load balancers, the NAT gateway and firewalls,
who gets in by what, and the addons in the order in which they come up. Needs
no key. Equal trees give equal pictures, so one can be committed beside them.

Examples:
   talosgen graph prod > prod.svg
   talosgen graph prod -o mermaid`,
		Flags: []cli.Flag{&cli.StringFlag{
			Name: flagOutput, Aliases: []string{"o"}, Usage: "`FORMAT` of the picture: " + strings.Join(pictureFormats, " or "), Value: pictureFormats[0],
		}},
		Action: w.graphAction,
	}
}

func (w *world) graphAction(c *cli.Context) error {
	env, err := environment(c)
	if err != nil {
		return err
	}
	var draw func(*render.Picture) []byte
	switch format := c.String(flagOutput); format {
	case "svg":
		draw = (*render.Picture).SVG
	case "mermaid":
		draw = (*render.Picture).Mermaid
	default:
		return diag.On("", "unknown output format %q", format).WithHint("formats: %s", strings.Join(pictureFormats, ", ")).WithCode(diag.Usage)
	}
	repo, err := w.openRepo(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	picture, err := repo.Graph(env)
	if err != nil {
		return err
	}
	return w.printData(draw(picture))
}
