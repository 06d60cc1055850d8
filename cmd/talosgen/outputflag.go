package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
)

// outputFlag selects the form of a command's data.
func outputFlag() cli.Flag { return formatFlag("result", "text", "json") }

// formatFlag selects one of some forms, of which the first is that of who says
// nothing.
func formatFlag(of string, formats ...string) cli.Flag {
	return &cli.StringFlag{
		Name: flagOutput, Aliases: []string{"o"}, Usage: "`FORMAT` of the " + of + ": " + strings.Join(formats, " or "), Value: formats[0],
		Action: func(_ *cli.Context, v string) error {
			if !slices.Contains(formats, v) {
				return diag.On("", "unknown output format %q", v).WithHint("formats: %s", strings.Join(formats, ", ")).WithCode(diag.Usage)
			}
			return nil
		},
	}
}

func wantsJSON(c *cli.Context) bool { return c.String(flagOutput) == "json" }
