package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/exporter"
)

// Flags of export.
const (
	flagTo     = "to"
	flagDir    = "dir"
	flagReveal = "reveal"
)

// usualExport is how long a talosconfig is good for whose reader has no talosgen.
const usualExport = 90 * 24 * time.Hour

// exportCommand writes an environment for those who go on without talosgen.
type exportCommand struct {
	ws     workspace
	access accessWriter
	out    *console
}

func (e exportCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write an environment for use without talosgen",
		ArgsUsage: "<env>",
		Description: `Writes what was rendered into a new directory: the machine configuration of each
node, the secrets bundle of the cluster, and a talosconfig. Secrets are encrypted
with SOPS, for the recipients in .sops.yaml; --reveal leaves them in the clear,
and refuses a directory that Git would take them from.

Examples:
   talosgen export prod --dir ~/prod
   talosgen export prod --dir ~/prod --reveal`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagDir, Usage: "new `DIRECTORY` to write"},
			&cli.StringFlag{Name: flagTo, Usage: "`KIND`: " + strings.Join(exporter.Kinds(), ", "), Value: exporter.Plain},
			&cli.BoolFlag{Name: flagReveal, Usage: "leave secrets in the clear"},
			&cli.DurationFlag{Name: flagLifetime, Usage: "`DURATION` of the certificate in the talosconfig", Value: usualExport, Action: checkLifetime},
		},
		Action: e.run,
	}
}

func (e exportCommand) run(c *cli.Context) error {
	env, err := e.ws.environment(c)
	if err != nil {
		return err
	}
	dir := c.String(flagDir)
	if dir == "" {
		return diag.On("", "export to which directory?").WithHint("talosgen export %s --dir <directory>", env).WithCode(diag.Usage)
	}
	if err := exporter.CheckTarget(dir); err != nil {
		return err
	}
	if c.Bool(flagReveal) {
		if err := outsideOfGit(c.Context, dir); err != nil {
			return err
		}
	}
	repo, err := e.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	o := exporter.Options{To: c.String(flagTo), Reveal: c.Bool(flagReveal)}
	if o.To == exporter.Plain {
		if o.Talosconfig, err = e.talosconfig(c); err != nil {
			return err
		}
	}
	made, err := exporter.Make(c.Context, repo, env, o)
	if err != nil {
		return err
	}
	if err := made.Write(dir); err != nil {
		return err
	}
	e.print(made, dir, o.Reveal)
	return nil
}

// talosconfig is one for the cluster, with a certificate of its own.
func (e exportCommand) talosconfig(c *cli.Context) (secret.String, error) {
	tree, err := e.access.trees.environment(c)
	if err != nil {
		return secret.String{}, err
	}
	f, err := tree.Talosconfig(c.Context, apply.AccessRequest{
		Lifetime: c.Duration(flagLifetime), Now: e.access.clock.now(), Random: e.access.random, File: "talosconfig",
	}, "os:admin", nil)
	if err != nil {
		return secret.String{}, err
	}
	if f.Note != "" {
		e.out.note("%s", f.Note)
	}
	return f.Content, nil
}

func (e exportCommand) print(made *exporter.Export, dir string, revealed bool) {
	for _, name := range made.Names() {
		e.out.say("wrote %s", filepath.Join(dir, filepath.FromSlash(name)))
	}
	how := "secrets are encrypted for the recipients in .sops.yaml"
	if revealed {
		how = "secrets stand in the clear"
	}
	e.out.say("%s: %s, as in rendered/%s; %s", dir, natural.Count(made.Nodes, "node"), made.Env, how)
	for _, note := range made.Notes {
		e.out.note("%s", note)
	}
}

// outsideOfGit refuses a directory from which Git would take files: one in a work tree
// that is not ignored there.
func outsideOfGit(ctx context.Context, dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return unreadable(dir, err)
	}
	parent := filepath.Dir(path)
	for !isDir(parent) && parent != filepath.Dir(parent) {
		parent = filepath.Dir(parent)
	}
	inside, err := gitOutput(ctx, parent, "rev-parse", "--is-inside-work-tree")
	var failed *gitError
	switch {
	case errors.As(err, &failed) && strings.Contains(failed.text, "not a git repository ("):
		return nil
	case err != nil:
		return diag.New(diag.Pos{File: dir}, "cannot be looked for in Git: %v", err).WithCause(err).WithCode(diag.Secrets)
	case strings.TrimSpace(inside) != "true":
		return nil
	}
	for _, place := range []string{path, exporter.Stage(path)} {
		if ignored, err := gitLine(ctx, parent, "check-ignore", "--", place+"/"); err != nil || ignored == "" {
			return diag.New(diag.Pos{File: dir}, "is in a Git work tree that does not ignore %s: secrets in the clear would be committed with the next `git add`", filepath.Base(place)).
				WithHint("name a directory outside of it, or one in a directory that is ignored; or leave out --reveal: then secrets are encrypted").
				WithCause(err).WithCode(diag.Secrets)
		}
	}
	return nil
}

// isDir reports whether there is a directory.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
