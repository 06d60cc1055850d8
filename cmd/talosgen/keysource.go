package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/talosgen/talosgen/internal/sopsage"
)

// keySource looks for keys where sops looks for them.
type keySource struct {
	vars environ
	out  *console
}

// env is where keys are looked for: where sops looks.
func (k keySource) env() sopsage.Env {
	return sopsage.Env{
		Lookup:   k.vars,
		GOOS:     runtime.GOOS,
		ReadFile: os.ReadFile,
		Run:      k.run,
		Ask:      k.ask,
		Notify:   func(message string) { k.out.say("%s", message) },
	}
}

// ask asks for a passphrase on the terminal, without an echo.
func (k keySource) ask(prompt string) (string, error) {
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

// run runs a command that prints a key (SOPS_AGE_KEY_CMD). It may ask
// for a passphrase, so it has the terminal.
func (k keySource) run(ctx context.Context, args, env []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	return cmd.Output()
}
