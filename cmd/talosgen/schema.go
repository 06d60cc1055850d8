package main

import (
	"os"
	"path"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/scaffold"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/schemas"
)

// schemaCommand prints the JSON Schemas of what people write, or writes them to files.
type schemaCommand struct{ out *console }

const flagContract = "contract"

// schemasDir is where the schemas are in a repository, with the names of their files.
const (
	schemasDir    = ".schemas"
	clusterSchema = "cluster.schema.json"
	baseSchema    = "cluster.base.schema.json"
	patchSchema   = "patch.schema.json"
)

func (s schemaCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print or write JSON Schemas: of cluster.yaml, of patches, of output",
		ArgsUsage: "[cluster|patch|output <command>]",
		Description: `Editors use them to check and complete what you write: cluster.yaml, and patches
with all documents of Talos that this release knows. Without an argument, that of
cluster.yaml is printed. That of its bases, which is written beside it, refers to it.

init writes them to .schemas, and tells VS Code and Zed of them. Write them again
after an upgrade of talosgen.

With output and the words of a command, it is that of what the command prints with
-o json, also with a flag that makes it print something else: upgrade plan, plan
all; that of run is of what webhooks get. Later versions may add fields.

Examples:
   talosgen schema > cluster.schema.json
   talosgen schema patch --contract v1.13 > patch.schema.json
   talosgen schema --out .schemas    # all of them
   talosgen schema output plan       # of talosgen plan -o json
   talosgen schema output image list`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagContract, Usage: "`VERSION` of the machine configurations that patches are for, such as v1.13", Value: versions.Newest().Contract()},
			&cli.StringFlag{Name: "out", Usage: "`DIR` to write the schemas to"},
		},
		Action: s.run,
	}
}

func (s schemaCommand) run(c *cli.Context) error {
	contract := c.String(flagContract)
	out, which := c.String("out"), c.Args().First()
	if which == "output" && out == "" {
		data, err := outputSchema(c.Args().Tail())
		if err != nil {
			return err
		}
		return s.out.printData(data)
	}
	if c.NArg() > 1 || c.NArg() == 1 && out != "" {
		return diag.On("", "one schema is printed, and all are written with --out").WithCode(diag.Usage)
	}
	if out != "" {
		files, err := schemaFiles(out, contract)
		if err == nil {
			err = writeSchemas(files)
		}
		if err == nil {
			s.out.say("wrote %s, %s and %s to %s", clusterSchema, baseSchema, patchSchema, out)
		}
		return err
	}
	switch which {
	case "", "cluster":
		return s.out.printData(schemas.ClusterSchema())
	case "patch":
		data, err := render.PatchSchema(contract)
		if err != nil {
			return err
		}
		return s.out.printData(data)
	}
	return diag.On("", "there is no schema %q", which).WithHint("there are cluster, patch, and output of a command").WithCode(diag.Usage)
}

// describesBases is the schema of a base of cluster.yaml: its keys, of which none is
// required, because the file that is laid over it may have them.
const describesBases = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "A base of cluster.yaml",
  "$ref": "` + clusterSchema + `#/$defs/Cluster"
}
`

// schemaFiles are the schemas as files in a folder.
func schemaFiles(dir, contract string) ([]scaffold.File, error) {
	patch, err := render.PatchSchema(contract)
	if err != nil {
		return nil, err
	}
	return []scaffold.File{
		{Path: path.Join(filepath.ToSlash(dir), clusterSchema), Data: schemas.ClusterSchema(), Mode: 0o644},
		{Path: path.Join(filepath.ToSlash(dir), baseSchema), Data: []byte(describesBases), Mode: 0o644},
		{Path: path.Join(filepath.ToSlash(dir), patchSchema), Data: patch, Mode: 0o644},
	}, nil
}

// writeSchemas writes schemas in place of older ones.
func writeSchemas(files []scaffold.File) error {
	for _, f := range files {
		file := filepath.FromSlash(f.Path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return diag.New(diag.Pos{File: f.Path}, "cannot be written: %v", err).WithCause(err)
		}
		if _, err := atomicfile.Write(file, f.Data, f.Mode); err != nil {
			return diag.New(diag.Pos{File: f.Path}, "cannot be written: %v", err).WithCause(err)
		}
	}
	return nil
}
