package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// workspace opens the repository that a command is about.
type workspace struct {
	cwd     func() (string, error)
	process render.Process
	opened  func(root string) // hears which one it is
}

// open opens the repository that the command is about.
func (ws workspace) open(c *cli.Context) (*render.Repo, error) {
	return ws.openAt(c, render.FindRoot)
}

// openNew is open for commands that make environments: the first one of a work tree of
// Git is made at its top, and none above it.
func (ws workspace) openNew(c *cli.Context) (*render.Repo, error) {
	return ws.openAt(c, func(dir string) (string, error) {
		root, err := render.FindRoot(dir)
		if top, in := workTree(dir); in && (err != nil || len(root) < len(top)) {
			return top, nil
		}
		return root, err
	})
}

// workTree is the work tree of Git that a directory is in.
func workTree(dir string) (top string, in bool) {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
	}
	return "", false
}

// openAt opens the repository that is named, or the one that is found from here.
func (ws workspace) openAt(c *cli.Context, find func(dir string) (string, error)) (*render.Repo, error) {
	root := c.String(flagRepo)
	if root == "" {
		cwd, err := ws.cwd()
		if err != nil {
			return nil, err
		}
		if root, err = find(cwd); err != nil {
			return nil, err
		}
	}
	ws.opened(root)
	process := ws.process
	process.Committed = func(file string) ([]byte, error) { return committedFile(c.Context, root, file) }
	return render.Open(root, process)
}

// git is how a command of Git begins that names files of the repository, from here.
func (ws workspace) git(root string) string {
	cwd, err := ws.cwd()
	if err != nil {
		return "git"
	}
	if !filepath.IsAbs(root) {
		root = filepath.Join(cwd, root)
	}
	below, err := filepath.Rel(cwd, root)
	if err != nil || below == "." {
		return "git"
	}
	return commandLine([]string{"git", "-C", filepath.ToSlash(below)})
}

// environment returns the one positional argument of most commands.
func (ws workspace) environment(c *cli.Context, more ...string) (string, error) {
	want := append([]string{"<env>"}, more...)
	required := 1
	for _, m := range more {
		if !strings.HasPrefix(m, "[") {
			required++
		}
	}
	switch n := c.NArg(); {
	case n == 0:
		hint := c.Command.HelpName + " " + strings.Join(want, " ")
		if names := ws.environments(c); len(names) > 0 {
			hint += "\nenvironments: " + strings.Join(names, ", ")
		}
		return "", diag.On("", "which environment?").WithHint("%s", hint).WithCode(diag.Usage)
	case n > len(want):
		return "", tooMany(c, len(want))
	case n < required:
		return "", diag.On("", "expected %s", strings.Join(want, " ")).WithHint("see `%s --help`", c.Command.HelpName).WithCode(diag.Usage)
	}
	return c.Args().First(), nil
}

// environments are the names that an environment can have here; none outside of
// a repository.
func (ws workspace) environments(c *cli.Context) []string {
	repo, err := ws.open(c)
	if err != nil {
		return nil
	}
	defer repo.Close()
	names, _ := repo.Environments()
	return names
}
