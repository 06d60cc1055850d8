package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
)

// outputFlag selects the form of a command's data.
func outputFlag() cli.Flag { return formatFlag("result") }

// Formats that every command with data has; text is that of who says nothing.
const (
	textFormat = "text"
	jsonFormat = "json"
	yamlFormat = "yaml"
)

// formatFlag selects text, JSON, YAML or one of some other formats.
func formatFlag(of string, others ...string) cli.Flag {
	return choiceOfFormats(of, append([]string{textFormat, jsonFormat, yamlFormat}, others...)...)
}

// choiceOfFormats selects one of some formats, of which the first is that of who says
// nothing.
func choiceOfFormats(of string, known ...string) cli.Flag {
	last := len(known) - 1
	return formats{names: known, StringFlag: &cli.StringFlag{
		Name: flagOutput, Aliases: []string{"o"}, Usage: "`FORMAT` of the " + of + ": " + strings.Join(known[:last], ", ") + " or " + known[last], Value: known[0],
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

// forPrograms reports whether a command prints its data for programs.
func forPrograms(c *cli.Context) bool {
	return slices.Contains([]string{jsonFormat, yamlFormat}, c.String(flagOutput))
}
