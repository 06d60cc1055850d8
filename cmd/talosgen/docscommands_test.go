package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestDocsCommands finds commands and flags that talosgen does not have, also in
// text that no test runs.
func TestDocsCommands(t *testing.T) {
	w, _, _ := testApp()
	app := newCLI(w)
	known := 0
	for _, name := range markdown(t) {
		for i, line := range readPage(t, name).lines {
			for _, args := range line.calls() {
				known++
				if err := checkCall(app, args); err != nil {
					t.Errorf("%s:%d: %v", name, i+1, err)
				}
			}
		}
	}
	const least = 300 // else hardly anything is looked at
	if known < least {
		t.Errorf("only %d commands were found", known)
	}
}

// call is talosgen with a command, maybe behind variables.
var call = regexp.MustCompile(`^(?:\$ )?(?:[A-Z_]+=\S+ )*talosgen ([a-z-]+(?: .*)?)$`)

// calls are the commands of talosgen in a line, each with its arguments: code
// that begins with them.
func (l docLine) calls() (all [][]string) {
	texts := codeSpan.FindAllString(l.text, -1)
	if l.code {
		texts = strings.Split(strings.TrimSpace(l.text), " -- ")
	}
	for _, text := range texts {
		if m := call.FindStringSubmatch(strings.Trim(text, "`")); m != nil {
			command, _, _ := strings.Cut(m[1], "  ") // behind which it is explained
			args := strings.Fields(command)
			if end := slices.IndexFunc(args, func(arg string) bool { return arg == "-" || arg == "--" || strings.ContainsAny(arg, "|&;>#'\"`") }); end >= 0 {
				args = args[:end]
			}
			all = append(all, args)
		}
	}
	return all
}

func checkCall(app *cli.App, args []string) error {
	commands, flags := app.Commands, app.Flags
	for len(args) > 0 && len(commands) > 0 {
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[0]) })
		if at < 0 {
			return fmt.Errorf("there is no command %q", args[0])
		}
		flags, args, commands = append(flags, commands[at].Flags...), args[1:], commands[at].Subcommands
	}
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.Trim(arg, "-,"), "=")
		if strings.HasPrefix(arg, "-") && name != "help" && !slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
			return fmt.Errorf("there is no flag %q", arg)
		}
	}
	return nil
}

func TestCheckCall(t *testing.T) {
	w, _, _ := testApp()
	app := newCLI(w)
	for text, want := range map[string]string{
		"`talosgen render --check dev` and `talosgen charts vendor --prune`, not `talosgen v1 `": "",
		"HCLOUD_TOKEN=… `HCLOUD_TOKEN=… talosgen secrets sync dev`":                              "",
		"`talosgen modernise prod`":           `there is no command "modernise"`,
		"`talosgen secrets upgrade`":          `there is no command "upgrade"`,
		"`talosgen render --image-url=x dev`": `there is no flag "--image-url=x"`,
		"`talosgen pool remove dev a -x`":     `there is no flag "-x"`,
	} {
		var got []string
		for _, args := range (docLine{text: text}).calls() {
			if err := checkCall(app, args); err != nil {
				got = append(got, err.Error())
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	block := docLine{text: "$ talosgen sim --seed dev -- talosgen plan dev --allow-dirty | tail -2", code: true}
	if got := fmt.Sprint(block.calls()); got != "[[sim --seed dev] [plan dev --allow-dirty]]" {
		t.Errorf("in a block: %s", got)
	}
}
