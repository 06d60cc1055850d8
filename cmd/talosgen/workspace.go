package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// workspace opens the repository that a command is about, and completes names in
// it for a shell.
type workspace struct {
	args    []string
	cwd     func() (string, error)
	stdout  io.Writer
	process render.Process
}

// open opens the repository that the command is about.
func (ws workspace) open(c *cli.Context) (*render.Repo, error) {
	root := c.String(flagRepo)
	if root == "" {
		cwd, err := ws.cwd()
		if err != nil {
			return nil, err
		}
		if root, err = render.FindRoot(cwd); err != nil {
			return nil, err
		}
	}
	process := ws.process
	process.Committed = func(file string) ([]byte, error) { return committedFile(c.Context, root, file) }
	return render.Open(root, process)
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

// completeEnvironments prints the environments, and the nodes once one is
// there, for the completion of a shell.
func (ws workspace) completeEnvironments(withNodes bool) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		// The last argument asks for the completion of the one before. A flag there
		// that is not complete is not among the arguments of c.
		if n := len(ws.args); n > 1 && strings.HasPrefix(ws.args[n-2], "-") {
			cli.DefaultCompleteWithFlags(c.Command)(c)
			return
		}
		repo, err := ws.open(c)
		if err != nil {
			return // a shell is told nothing rather than an error
		}
		defer repo.Close()
		var names []string
		switch {
		case c.NArg() == 0:
			names, _ = repo.Environments()
		case c.NArg() == 1 && withNodes:
			names, _ = repo.RenderedNodes(c.Args().First())
		}
		for _, name := range names {
			fmt.Fprintln(ws.stdout, name)
		}
	}
}
