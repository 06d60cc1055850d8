package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/schemas"
)

// schemaCommand prints the JSON Schema of cluster.yaml.
type schemaCommand struct{ out *console }

func (s schemaCommand) command() *cli.Command {
	return &cli.Command{
		Name:  "schema",
		Usage: "print the JSON Schema of cluster.yaml",
		Description: `Editors use it to check and complete cluster.yaml. The first line of the file
names it:
   # yaml-language-server: $schema=<file or URL>

Example:
   talosgen schema > cluster.schema.json`,
		Action: func(*cli.Context) error { return s.out.printData(schemas.ClusterSchema) },
	}
}
