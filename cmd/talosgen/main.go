// Command talosgen renders and applies Kubernetes clusters on Talos Linux.
// This package holds what touches the outside: arguments, environment,
// terminal, exit codes. The work is done in render and apply.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	_ "github.com/talosgen/talosgen/internal/gc" // the pace of the collector, before libraries are initialised
)

// version is the release that this source is. It stands in locks, and decides
// whether a tree was written by a newer talosgen.
const version = "0.1.0"

// internalError is the exit code after a panic, as in sysexits.h.
const internalError = 70

func main() {
	setUp()
	os.Exit(run(os.Args, systemApp()))
}

// setUp sets what libraries share.
func setUp() {
	debug.SetMemoryLimit(1 << 30)
	// Helm writes what it thinks of values, secret ones too, to the log that all
	// libraries share. Nothing of ours goes there.
	slog.SetDefault(slog.New(slog.DiscardHandler))
}

// panicHook lets a test panic in the middle of a command.
var panicHook func()

// run executes a command line and returns the exit code. Whatever is said on
// stderr passes the masker, panics included, and says nothing to a terminal or a
// CI but what is ours.
func run(args []string, a *app) (code int) {
	a.args = args
	a.console.protect(a.vars)
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.console.stderr, "talosgen: internal error: %v\n\n%s\nplease report this at https://github.com/talosgen/talosgen/issues\n", p, debug.Stack())
			code = internalError
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newCLI(a)
	if shell := (completer{root, a.workspace(), a.console.stdout}); shell.asks(args) {
		shell.answer(args[2:])
		return int(diag.OK)
	}
	err := root.RunContext(ctx, permute(root, args))
	code = exitOf(ctx, err)
	var own commandExit
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(a.console.stderr, "talosgen: interrupted")
	case err == nil, errors.Is(err, errDifferences), errors.As(err, &own):
	default:
		a.console.printError(usageOf(err))
	}
	return code
}

// exitOf is the exit code of a command that ended with err.
func exitOf(ctx context.Context, err error) int {
	var own commandExit
	switch {
	case ctx.Err() != nil:
		return int(diag.Interrupted)
	case errors.Is(err, errDifferences):
		return int(diag.Differences)
	case errors.As(err, &own):
		return int(own)
	}
	return int(diag.CodeOf(usageOf(err)))
}

// usageOf is an error with the code of this program, if it is one of urfave/cli with a
// code of its own: `help` of what does not exist.
func usageOf(err error) error {
	if exit := cli.ExitCoder(nil); errors.As(err, &exit) {
		return diag.On("", "%v", exit).WithHint("see `talosgen --help`").WithCode(diag.Usage)
	}
	return err
}

// errDifferences ends a command that found differences and has printed them.
var errDifferences = errors.New("differences found")
