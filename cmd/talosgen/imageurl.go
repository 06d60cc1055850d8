package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/render"
)

const flagArch = "arch"

func (i imageCommand) urlCommand() *cli.Command {
	return &cli.Command{
		Name:      "url",
		Usage:     "print where the Talos images of nodes are",
		ArgsUsage: "<env> [node]",
		Description: `Prints the installer, ISO, PXE script and disk image of each node of an
environment, as the Image Factory has them: nodes with the same schematic and
architecture together. It needs no network and no key. That of a server follows
from its type; --arch says which machines are.

The factory makes images of schematics that it was told once. One that it was not
told is unknown to it: -o json has the schematic, which is sent to
https://<factory>/schematics.

Examples:
   talosgen image url home
   talosgen image url home nas --arch arm64
   talosgen image url home nas -o json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagArch, Usage: "`ARCHITECTURE` of machines: " + strings.Join(render.Architectures(), " or "), DefaultText: render.Architectures()[0]},
			outputFlag(),
		},
		Action: i.url,
	}
}

func (i imageCommand) url(c *cli.Context) error {
	ws, out := i.clusters.ws, i.clusters.out
	env, err := ws.environment(c, "[node]")
	if err != nil {
		return err
	}
	repo, err := ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	found, err := render.FindImageURLs(c.Context, repo, env, c.Args().Get(1), c.String(flagArch))
	if err != nil {
		return err
	}
	if forPrograms(c) {
		return out.printValue(c, found)
	}
	return out.printData([]byte(imageURLText(found)))
}

// imageURLText shows images to people.
func imageURLText(found []render.ImageURLs) string {
	var text strings.Builder
	for i, u := range found {
		if i > 0 {
			text.WriteByte('\n')
		}
		secure := ""
		if u.SecureBoot {
			secure = ", secure boot"
		}
		fmt.Fprintf(&text, "%s (%s, %s%s)\n", printable.Line(strings.Join(u.Nodes, ", ")), u.Platform, u.Architecture, secure)
		for _, line := range [][2]string{{"schematic", u.Schematic}, {"installer", u.Installer}, {"ISO", u.ISO}, {"PXE", u.PXE}, {"disk", u.Disk}} {
			if line[1] != "" {
				fmt.Fprintf(&text, "  %-10s %s\n", line[0], printable.Line(line[1]))
			}
		}
	}
	return text.String()
}
