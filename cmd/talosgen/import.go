package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/importer"
)

// importCommand makes environments of what people have.
type importCommand struct {
	ws  workspace
	out *console
}

func (i importCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "make an environment of existing machine configurations",
		ArgsUsage: "<env>",
		Description: `Reads the machine configurations of a cluster and writes an environment
that renders to the same ones: options in cluster.yaml, patches for the rest, and
the secrets encrypted for the recipients in .sops.yaml.

Before anything is written, the environment is rendered in memory and compared
with the source, value by value. If a value differs, nothing is written, and the
value is named. An existing environment is never changed. The first environment of
a repository makes envs/, at the top of the work tree of Git.

Kinds of sources:
   talosctl   a folder of machine configurations, one for each node, as
              ` + "`talosctl gen config`" + ` writes them
   talhelper  a folder with talconfig.yaml, its patches, and clusterconfig/,
              which talhelper made of them; patches are copied as they are
              where they lead to the same values
   topf       a folder with topf.yaml, its patches, and output/, which
              ` + "`topf render`" + ` made of them
   layered    a folder of patches in layers: patches/common, controlplane,
              worker and nodes, the same in envs/<env>, with cluster.env and
              a secrets bundle, as ` + "`talosctl gen config`" + ` reads them

Examples:
   talosgen import home --from talosctl --dir ~/machines
   talosgen import home --from talhelper --dir ~/cluster --check
   talosgen import prod --from layered --dir ~/talos
   talosgen import home --from layered --dir ~/talos \
      --node nas=worker@10.0.0.31
   talosgen import home --from talosctl --dir ~/talos \
      --node cp-1=controlplane.yaml --node cp-2=controlplane.yaml \
      --node worker-1=worker.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "`KIND` of the source: " + strings.Join(importer.Kinds(), ", ")},
			&cli.StringFlag{Name: "dir", Usage: "`DIRECTORY` of the source"},
			&cli.StringSliceFlag{Name: "node", Usage: "`NAME=FILE`: a node, and the file with its configuration (repeatable; default: each file is that of a node); of layers NAME=controlplane or NAME=worker"},
			&cli.BoolFlag{Name: "check", Usage: "compare only, and write nothing"},
		},
		Action: i.run,
	}
}

func (i importCommand) run(c *cli.Context) error {
	env, err := i.ws.environment(c)
	if err != nil {
		return err
	}
	if c.String("from") == "" || c.String("dir") == "" {
		return diag.On("", "import from what?").
			WithHint("talosgen import %s --from %s --dir <directory>", env, strings.Join(importer.Kinds(), "|")).WithCode(diag.Usage)
	}
	repo, err := i.ws.openNew(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	guard, err := os.OpenRoot(c.String("dir"))
	if err != nil {
		return unreadable(c.String("dir"), err)
	}
	defer guard.Close()
	report, err := importer.Import(c.Context, repo, env, importer.Options{
		From: c.String("from"), Dir: guard.FS(), Nodes: c.StringSlice("node"), Check: c.Bool("check"),
	})
	if err != nil {
		return err
	}
	i.print(report, c.Bool("check"), "it is there already")
	return nil
}

func (i importCommand) print(r *importer.Report, check bool, unchanged string) {
	nodes := "1 node"
	if r.Nodes > 1 {
		nodes = fmt.Sprintf("%d nodes", r.Nodes)
	}
	i.out.say("envs/%s: %s, %d values, all as in %s", r.Env, nodes, r.Values, r.Target)
	switch {
	case r.Written:
		for _, file := range r.Files {
			i.out.say("wrote %s", file)
		}
	case check:
		i.out.say("nothing was written: --check")
	default:
		i.out.say("nothing changed: %s", unchanged)
	}
	for _, note := range r.Notes {
		i.out.say("%s", note)
	}
}
