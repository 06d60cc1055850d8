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
func formatFlag(of string, known ...string) cli.Flag {
	return formats{names: known, StringFlag: &cli.StringFlag{
		Name: flagOutput, Aliases: []string{"o"}, Usage: "`FORMAT` of the " + of + ": " + strings.Join(known, " or "), Value: known[0],
		Action: func(_ *cli.Context, v string) error {
			if !slices.Contains(known, v) {
				return diag.On("", "unknown output format %q", v).WithHint("formats: %s", strings.Join(known, ", ")).WithCode(diag.Usage)
			}
			return nil
		},
	}}
}

// formats is the flag of a format, with what it can be.
type formats struct {
	*cli.StringFlag
	names []string
}

func wantsJSON(c *cli.Context) bool { return c.String(flagOutput) == "json" }
