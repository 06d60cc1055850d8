package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/talosgen/talosgen/internal/diag"
)

// runWith runs a command that finds the project by its variables, and ends as
// the command does.
func (m simCommand) runWith(ctx context.Context, p simulated, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		return cmd.Process.Kill() // Windows has no other end
	}
	cmd.Env = append(os.Environ(), p.variables()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = m.out.stdin, m.out.stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.Exited():
		return commandExit(exit.ExitCode())
	}
	return diag.On(args[0], "cannot be run: %v", reasonOf(err)).WithCode(diag.Usage).WithCause(err)
}

// commandExit is the exit code of a command that talosgen ran, and as which it
// ends: the command has said what is wrong.
type commandExit int

func (e commandExit) Error() string {
	return fmt.Sprintf("the command ended with exit code %d", int(e))
}
