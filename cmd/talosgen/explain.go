package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// explainCommand shows where the values of a node come from.
type explainCommand struct {
	ws  workspace
	out *console
}

func (e explainCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "show which layer set a value of a node, and which values it overrode",
		ArgsUsage: "<env> <node> [path]",
		Description: `Shows for every value at or below the path the layer, file and line that set it,
then those that it overrode. Values of documents other than machine: and
cluster: are named by their kind (and name): HostnameConfig.hostname,
UserVolumeConfig/data.provisioning.

Layers, later wins: Talos' generated base, options of cluster.yaml,
patches/common, patches/<role>, then envs/<env>/patches: common, <role>,
pools/<pool>, nodes/<node>.

In place of a node, addon/<name> stands for the values of a chart: those of
talosgen's catalogue, then those that options of cluster.yaml make, then
patches/addons/<name>/values.yaml, then envs/<env>/addons/<name>/values.yaml.

Examples:
   talosgen explain dev dev-worker-1 machine.nodeLabels
   talosgen explain dev addon/podinfo replicaCount
   talosgen explain dev dev-worker-1 --all`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "explain the whole configuration"},
			outputFlag(),
		},
		Action: e.run,
	}
}

func (e explainCommand) run(c *cli.Context) error {
	env, err := e.ws.environment(c, "<node>", "[path]")
	if err != nil {
		return err
	}
	path := c.Args().Get(2)
	if path == "" && !c.Bool("all") {
		return diag.On("", "which value?").WithHint("name a path, such as machine.kubelet, or say --all").WithCode(diag.Usage)
	}
	repo, err := e.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	values, err := repo.Explain(c.Context, env, c.Args().Get(1), path)
	if err != nil {
		return err
	}
	if forPrograms(c) {
		return e.out.printValue(c, values)
	}
	var b strings.Builder
	for _, v := range values {
		explainValue(&b, v)
	}
	return e.out.printText(b.String())
}

// explainValue prints a value, the layer that set it, and those below.
func explainValue(b *strings.Builder, v render.Explained) {
	fmt.Fprintf(b, "%s: %s\n", v.Name(), quoteValue(v.Value))
	for i := len(v.Origins) - 1; i >= 0; i-- {
		o := v.Origins[i]
		where := o.Layer
		if o.File != "" {
			where = fmt.Sprintf("%s:%d (%s)", o.File, o.Line, o.Layer)
		}
		if i == len(v.Origins)-1 {
			fmt.Fprintf(b, "    set by %s\n", where)
			continue
		}
		fmt.Fprintf(b, "    over   %s: %s\n", where, quoteValue(o.Value))
	}
}
