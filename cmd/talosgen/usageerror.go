package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
)

// tooMany is the problem of a command that takes n arguments, and has more.
func tooMany(c *cli.Context, n int) error {
	return diag.On("", "%q is one argument too many", c.Args().Get(n)).
		WithHint("see `%s --help`", c.Command.HelpName).WithCode(diag.Usage)
}

// undefinedFlag is how the flag package begins to say that there is no such flag.
const undefinedFlag = "flag provided but not defined: "

// oneDash is a flag as the flag package writes it, whose names have one dash.
var oneDash = regexp.MustCompile(`(^| )-([a-z][-a-z]+)`)

// usageError reports a wrong command line on stderr, without the whole help.
func usageError(c *cli.Context, err error, _ bool) error {
	name, flags := "talosgen", c.App.Flags
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "talosgen" {
		name, flags = c.Command.HelpName, append(slices.Clip(c.Command.Flags), flags...)
	}
	hint := fmt.Sprintf("see `%s --help`", name)
	text := oneDash.ReplaceAllString(err.Error(), "$1--$2")
	if flag, unknown := strings.CutPrefix(text, undefinedFlag); unknown {
		text = "unknown flag " + flag
		if meant := flagMeant(strings.TrimLeft(flag, "-"), flagsOf(flags)); meant != "" {
			hint = "did you mean --" + meant + "?"
		}
	}
	return diag.On("", "%s", text).WithHint("%s", hint).WithCode(diag.Usage)
}

// flagMeant is the flag that somebody may have meant: the only one that begins with these
// words, such as yes-destroy, or one that is spelled alike; empty if there is none.
func flagMeant(name string, flags []string) string {
	longer := slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return !strings.HasPrefix(f, name+"-") })
	if len(longer) == 1 {
		return longer[0]
	}
	return diag.Nearest(name, flags)
}

// flagsOf are the long names of flags.
func flagsOf(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	return names
}

func unknownCommand(of, name string, commands []*cli.Command) error {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	hint := diag.Suggest(name, names)
	if hint == "" {
		hint = fmt.Sprintf("see `%s --help`", of)
	}
	return diag.On("", "unknown command %q", name).WithHint("%s", hint).WithCode(diag.Usage)
}
