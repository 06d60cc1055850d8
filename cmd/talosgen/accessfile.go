package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
)

// Flags of the commands that write credentials.
const (
	flagLifetime = "lifetime"
	flagForce    = "force"
)

// shortestLifetime of a certificate: clocks differ, and commands take time.
const shortestLifetime = time.Minute

// accessFlags are those of both commands that write credentials.
func accessFlags(standard string, more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.StringFlag{Name: flagOutput, Aliases: []string{"o"}, Usage: "`FILE` to create or to add to; - is stdout; default: " + standard},
		&cli.DurationFlag{Name: flagLifetime, Usage: "`DURATION` of the certificate", Value: 12 * time.Hour, Action: checkLifetime},
		&cli.BoolFlag{Name: flagForce, Usage: "replace entries of another cluster with the same name"},
	)
}

func checkLifetime(_ *cli.Context, d time.Duration) error {
	if d < shortestLifetime {
		return diag.On("--"+flagLifetime, "%v is too short", d).WithHint("the shortest is %v", shortestLifetime).WithCode(diag.Usage)
	}
	return nil
}

// checkAccessFile refuses the names of formats, which --output has elsewhere: a
// private key would be in a file of that name before it is noticed, and in Git
// soon after.
func checkAccessFile(path string) error {
	if !slices.Contains([]string{"json", "yaml", "text"}, path) {
		return nil
	}
	return diag.On("--"+flagOutput, "names the file to write here, and %q is a format of other commands", path).
		WithHint("`-o -` prints it, as YAML; `-o ./%s` is a file of that name", path).WithCode(diag.Usage)
}

// accessCommand makes the file that a command is about.
type accessCommand func(*apply.Environment, apply.AccessRequest) (*apply.AccessFile, error)

// accessWriter writes credentials into the files of talosctl and kubectl.
type accessWriter struct {
	trees  trees
	out    *console
	vars   environ
	clock  clock
	random io.Reader
}

// write opens the environment that the command names, makes its file, and
// writes it to where the command, or else the tool that reads it, has it. what
// the certificate allows is for the message.
func (a accessWriter) write(c *cli.Context, standard func(environ) (string, error), what string, make accessCommand) error {
	path := c.String(flagOutput)
	if err := checkAccessFile(path); err != nil {
		return err
	}
	env, err := a.trees.environment(c)
	if err != nil {
		return err
	}
	if path == "" {
		if path, err = standard(a.vars); err != nil {
			return err
		}
	}
	r := apply.AccessRequest{
		Lifetime: c.Duration(flagLifetime), Replace: c.Bool(flagForce), File: path, Now: a.clock.now(), Random: a.random,
	}
	if path != "-" {
		if r.Existing, err = os.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unreadable(path, err)
		}
	}
	f, err := make(env, r)
	if err != nil {
		return err
	}
	if f.Note != "" {
		a.out.note("%s", f.Note)
	}
	if path == "-" {
		return a.out.printData([]byte(f.Content.Reveal()))
	}
	written, err := writePrivate(path, []byte(f.Content.Reveal()))
	if err != nil {
		return diag.New(diag.Pos{File: path}, "cannot be written: %v", reasonOf(err)).WithCause(err)
	}
	verb := "is up to date:"
	if written {
		verb = "has"
	}
	if !f.Expires.IsZero() {
		what += " until " + f.Expires.UTC().Format(time.RFC3339)
	}
	a.out.say("%s %s context %q, %s", path, verb, f.Context, what)
	if f.Way != "" {
		a.out.note("%s", f.Way)
	}
	return nil
}

// writePrivate writes a file that only its owner may read, also if it was
// readable for others.
func writePrivate(path string, data []byte) (written bool, err error) {
	const ownerDir, owner = 0o700, 0o600
	if err := os.MkdirAll(filepath.Dir(path), ownerDir); err != nil {
		return false, err
	}
	if written, err = atomicfile.Write(path, data, owner); err != nil {
		return written, err
	}
	return written, os.Chmod(path, owner)
}
