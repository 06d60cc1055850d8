package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/render"
)

// diffCommand shows what a render would change.
type diffCommand struct {
	ws  workspace
	out *console
}

func (d diffCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "show what a render would change",
		ArgsUsage: "<env>",
		Description: `Renders in memory and compares the result with the committed tree, value by
value. Secrets are shown as changed, without their values. Encrypted sources that
changed since the last render are listed first; --reveal decrypts them and prints
the lines that changed. Exits 1 if there are differences.

With --since nothing is rendered: the rendered tree is compared with what it was in
a commit, such as that of the branch into which a pull request goes. That needs no
key.

Examples:
   talosgen diff dev
   talosgen diff dev --reveal
   talosgen diff dev --since origin/main`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "reveal", Usage: "decrypt encrypted sources that changed"}, sinceFlag(), outputFlag()},
		Action: func(c *cli.Context) error {
			if c.IsSet(flagSince) {
				return d.since(c)
			}
			if c.Bool("reveal") && forPrograms(c) {
				return diag.On("", "--reveal and -o json exclude each other").WithCode(diag.Usage)
			}
			env, err := d.ws.environment(c)
			if err != nil {
				return err
			}
			repo, err := d.ws.open(c)
			if err != nil {
				return err
			}
			defer repo.Close()
			res, err := repo.WithNewKeys().Render(c.Context, env, render.Options{}) // nothing is written
			if res != nil {
				d.out.printWarnings(res.Warnings)
			}
			if err != nil {
				return err
			}
			changes, err := repo.Diff(c.Context, res)
			if err != nil {
				return err
			}
			if err := d.printEncrypted(c, repo, res); err != nil {
				return err
			}
			if err := d.printChanges(c, env, changes); err != nil {
				return err
			}
			if len(changes) > 0 || len(res.Encrypted) > 0 {
				return errDifferences
			}
			return nil
		},
	}
}

// since compares the rendered tree with what it was in a commit.
func (d diffCommand) since(c *cli.Context) error {
	if c.Bool("reveal") {
		return diag.On("--reveal", "not together with --%s, which needs no key", flagSince).WithCode(diag.Usage)
	}
	env, err := d.ws.environment(c)
	if err != nil {
		return err
	}
	repo, err := d.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	if err := repo.Repository().CheckRendered(env); err != nil {
		return err
	}
	changes, err := sinceOf(c, repo.Root(), env).changes(c.Context)
	if err != nil {
		return err
	}
	if err := d.printChanges(c, env, changes); err != nil {
		return err
	}
	if len(changes) > 0 {
		return errDifferences
	}
	return nil
}

// printEncrypted names the encrypted sources that changed, on stderr, where they
// are no part of the list of changes; what is in them is data.
func (d diffCommand) printEncrypted(c *cli.Context, repo *render.Repo, res *render.Result) error {
	for _, source := range res.Encrypted {
		d.out.say("encrypted source %s: %s", source.Action, source.File)
		if !c.Bool("reveal") {
			continue
		}
		lines, err := repo.Reveal(c.Context, res.Env, source)
		if err != nil {
			return err
		}
		for _, line := range lines {
			if err := d.out.printData([]byte("  " + printable.Line(line) + "\n")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d diffCommand) printChanges(c *cli.Context, env string, changes []render.Change) error {
	if forPrograms(c) {
		if changes == nil {
			changes = []render.Change{}
		}
		return d.out.printValue(c, changes)
	}
	if len(changes) == 0 {
		d.out.say("rendered/%s: no changes", env)
		return nil
	}
	return d.out.printText(changesText(changes))
}

// changesText has a line for each change, below that of its file.
func changesText(changes []render.Change) string {
	var b strings.Builder
	file := ""
	for _, ch := range changes {
		if ch.File != file {
			file = ch.File
			fmt.Fprintf(&b, "%s\n", file)
		}
		b.WriteString(changeLine(ch) + "\n")
	}
	return b.String()
}

// changeLine prints a change: + added, - removed, ~ changed.
func changeLine(ch render.Change) string {
	if ch.Path == "" {
		return map[string]string{
			render.Added: "  + the whole file", render.Removed: "  - the whole file",
			render.Changed: "  ~ encryption or order only",
		}[ch.Action]
	}
	place := strings.TrimSpace(ch.Document + " " + ch.Path)
	if ch.Secret {
		return map[string]string{render.Added: "  + ", render.Removed: "  - ", render.Changed: "  ~ "}[ch.Action] + place + ": secret " + ch.Action
	}
	switch ch.Action {
	case render.Added:
		return "  + " + place + ": " + quoteValue(ch.New)
	case render.Removed:
		return "  - " + place + ": " + quoteValue(ch.Old)
	default:
		old, now := quoteChange(ch.Old, ch.New)
		return "  ~ " + place + ": " + old + " -> " + now
	}
}
