// Command talosgen renders and applies Kubernetes clusters on Talos Linux.
// This package holds what touches the outside: arguments, environment,
// terminal, exit codes. The work is done in render and apply.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/internal/secret"
)

// version is the release that this source is. It stands in locks, and decides
// whether a tree was written by a newer talosgen.
const version = "0.1.0"

// internalError is the exit code after a panic, as in sysexits.h.
const internalError = 70

func main() {
	// Rendering makes garbage fast and keeps little; memory stays bounded.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(1 << 30)
	// Helm writes what it thinks of values, secret ones too, to the log that all
	// libraries share. Nothing of ours goes there.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(run(os.Args, systemWorld()))
}

// world is everything outside of the process that commands touch.
type world struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	screen         io.Writer // stderr, for what moves on it and prints no foreign text as it is
	lookup         func(string) (string, bool)
	cwd            func() (string, error)
	now            func() time.Time
	sleep          func(context.Context, time.Duration) error
	memory         func() uint64 // that the program has taken, in bytes
	random         io.Reader
	http           http.RoundTripper
	terminal       bool       // stderr is one
	answers        bool       // stdin is one: there is somebody to ask
	width          func() int // of the terminal, in columns; 0 if that is not known
	masker         *secret.Masker
	// The SSH keys of whoever runs this; nil: those that flags name, or the agent's.
	signers apply.Signers
	// What a command has left behind, and has said already; nil: nothing.
	left error
}

func systemWorld() *world {
	return &world{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		lookup: os.LookupEnv, cwd: os.Getwd,
		now: time.Now, sleep: sleepFor, memory: heapMemory, random: rand.Reader, http: webTransport(),
		terminal: isTerminal(os.Stderr), answers: isTerminal(os.Stdin), width: func() int { return terminalWidth(os.Stderr) },
		masker: secret.NewMasker(),
	}
}

// connectWithin is how long a web server may take to accept a connection.
const connectWithin = 10 * time.Second

// webTransport is Go's own, which waits for a connection for half a minute: whoever
// has no network is told so sooner.
func webTransport() http.RoundTripper {
	own, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	quick := own.Clone()
	quick.DialContext = (&net.Dialer{Timeout: connectWithin, KeepAlive: 30 * time.Second}).DialContext
	return quick
}

// panicHook lets a test panic in the middle of a command.
var panicHook func()

// run executes a command line and returns the exit code. Whatever is said on
// stderr passes the masker, panics included, and says nothing to a terminal or a
// CI but what is ours.
func run(args []string, w *world) (code int) {
	var colours []string
	if w.terminal {
		colours = []string{red, yellow, reset}
	}
	w.args, w.screen, w.stderr = args, w.masker.Writer(w.stderr), w.masker.Writer(printable.Writer(w.stderr, colours...))
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(w.stderr, "talosgen: internal error: %v\n\n%s\nplease report this at https://github.com/talosgen/talosgen/issues\n", p, debug.Stack())
			code = internalError
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app := newApp(w)
	err := app.RunContext(ctx, permute(app, args))
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(w.stderr, "talosgen: interrupted")
		return int(diag.Interrupted)
	case (err == nil || errors.Is(err, errDifferences)) && w.left != nil:
		return int(diag.CodeOf(w.left))
	case err == nil:
		return int(diag.OK)
	case errors.Is(err, errDifferences):
		return int(diag.Differences)
	}
	if own := commandExit(0); errors.As(err, &own) {
		return int(own)
	}
	if exit := cli.ExitCoder(nil); errors.As(err, &exit) {
		// urfave/cli's own, with codes of its own: `help` of what does not exist.
		err = diag.On("", "%v", exit).WithHint("see `talosgen --help`").WithCode(diag.Usage)
	}
	w.printError(err)
	return int(diag.CodeOf(err))
}

// errDifferences ends a command that found differences and has printed them.
var errDifferences = errors.New("differences found")
