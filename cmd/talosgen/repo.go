package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
)

// openRepo opens the repository that the command is about.
func (w *world) openRepo(c *cli.Context) (*render.Repo, error) {
	root := c.String(flagRepo)
	if root == "" {
		cwd, err := w.cwd()
		if err != nil {
			return nil, err
		}
		if root, err = render.FindRoot(cwd); err != nil {
			return nil, err
		}
	}
	world := w.renderWorld()
	world.Committed = func(file string) ([]byte, error) { return committedFile(c.Context, root, file) }
	return render.Open(root, world)
}

func (w *world) renderWorld() render.World {
	return render.World{Keys: w.keyEnv(), Now: w.now, Random: w.random, Given: w.given, ChartCache: w.cachedChart, BoundTemplates: w.boundTemplates, Masker: w.masker, Version: version}
}

// given is a secret in the environment of the process.
func (w *world) given(name string) secret.String {
	value, _ := w.lookup(name)
	return secret.New(value)
}

// keyEnv is where keys are looked for: where sops looks.
func (w *world) keyEnv() sopsage.Env {
	return sopsage.Env{
		Lookup:   w.lookup,
		GOOS:     runtime.GOOS,
		ReadFile: os.ReadFile,
		Run:      w.runKeyCommand,
		Ask:      w.ask,
		Tell:     func(message string) { w.say("%s", message) },
	}
}

// ask asks for a passphrase on the terminal, without an echo.
func (w *world) ask(prompt string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", errors.New("there is no terminal to ask on")
	}
	defer tty.Close()
	terminal := int(tty.Fd())
	echoing, err := term.GetState(terminal)
	if err != nil {
		return "", err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Fprint(tty, strings.TrimRight(prompt, ": ")+": ")
	answer, err := interruptible(ctx, func() (string, error) {
		answer, err := term.ReadPassword(terminal)
		return string(answer), err
	})
	fmt.Fprintln(tty)
	return answer, errors.Join(err, term.Restore(terminal, echoing))
}

// interruptible waits until somebody has typed what read returns, or has
// interrupted the question: then whoever reads goes on until the process ends.
func interruptible(ctx context.Context, read func() (string, error)) (string, error) {
	type line struct {
		text string
		err  error
	}
	typed := make(chan line, 1)
	go func() {
		text, err := read()
		typed <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case l := <-typed:
		return l.text, l.err
	}
}

// runKeyCommand runs a command that prints a key (SOPS_AGE_KEY_CMD). It may ask
// for a passphrase, so it has the terminal.
func (w *world) runKeyCommand(ctx context.Context, args, env []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	return cmd.Output()
}

// environment returns the one positional argument of most commands.
func (w *world) environment(c *cli.Context, more ...string) (string, error) {
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
		if names := w.environments(c); len(names) > 0 {
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
func (w *world) environments(c *cli.Context) []string {
	repo, err := w.openRepo(c)
	if err != nil {
		return nil
	}
	defer repo.Close()
	names, _ := repo.Environments()
	return names
}

// unreadable says that a file that the command line names cannot be read.
func unreadable(file string, err error) error {
	return diag.New(diag.Pos{File: file}, "cannot be read: %v", reasonOf(err)).WithCause(err)
}

// reasonOf is an error without its path, for a problem that has it.
func reasonOf(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

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
