package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/child"
)

// environment is the name of the environment of a run.
const environment = "e2e"

// repository is a user's repository with a remote that it is pushed to, and the
// programs that a user works on it with.
type repository struct {
	talosgen string   // the program
	work     string   // a directory of the run's own
	env      []string // of programs
	out      io.Writer
}

func (r *repository) root() string { return filepath.Join(r.work, "clusters") }

// variables are the environment of programs: nothing of the person who runs this
// but what leads to the project. Programs that one of them starts are found as
// ever.
func variables(own []string, work string) (env []string) {
	for _, v := range own {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "SOPS_") && !strings.HasPrefix(name, "GIT_") {
			env = append(env, v)
		}
	}
	return append(env, "SOPS_AGE_KEY_FILE="+filepath.Join(work, "key.txt"),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=e2e", "GIT_AUTHOR_EMAIL=e2e@example.com", "GIT_COMMITTER_NAME=e2e", "GIT_COMMITTER_EMAIL=e2e@example.com")
}

// exitError is how a program ended that did not end as it should have.
type exitError struct {
	command string
	code    int
}

func (e *exitError) Error() string { return fmt.Sprintf("%s: exit code %d", e.command, e.code) }

// do runs talosgen on the repository. Its own error messages are in the output.
func (r *repository) do(ctx context.Context, args ...string) ([]byte, error) {
	return r.command(ctx, r.talosgen, append([]string{"-C", r.root()}, args...)...)
}

// command runs a program and returns what it printed to stdout. An interruption
// is passed on, and waited for: a talosgen that is at work puts its things away.
func (r *repository) command(ctx context.Context, program string, args ...string) ([]byte, error) {
	const patience = 3 * time.Minute
	shown := strings.Join(append([]string{filepath.Base(program)}, args...), " ")
	shown = strings.ReplaceAll(strings.ReplaceAll(shown, "-C "+r.root()+" ", ""), r.work, "…")
	fmt.Fprintf(r.out, "$ %s\n", shown)
	var stdout bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = r.env, &stdout, r.out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	err := child.Start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = &exitError{shown, exit.ExitCode()}
	}
	return stdout.Bytes(), err
}

// start makes the repository with one environment, and its remote.
func (r *repository) start(ctx context.Context, cluster string, where place) error {
	if _, err := r.command(ctx, r.talosgen, "init", r.root(), "--env", environment, "--cluster-name", cluster); err != nil {
		return err
	}
	if err := r.choose(where); err != nil {
		return err
	}
	remote := filepath.Join(r.work, "remote.git")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", r.root()},
		{"init", "-q", "--bare", remote},
		{"-C", r.root(), "remote", "add", "origin", remote},
	} {
		if _, err := r.command(ctx, "git", args...); err != nil {
			return err
		}
	}
	if _, err := r.do(ctx, "pool", "scale", environment, "worker", "1", "--no-render"); err != nil {
		return err
	}
	return r.publish(ctx, "Start")
}

// choose puts the servers where they are cheapest.
func (r *repository) choose(where place) error {
	types := "type: " + where.types[0]
	if len(where.types) > 1 {
		types += fmt.Sprintf("\n@fallbackTypes: [%s]", strings.Join(where.types[1:], ", "))
	}
	return r.edit("cluster.yaml", [][2]string{
		{`region: .*`, "region: " + where.location},
		{`networkZone: .*`, "networkZone: " + where.zone},
		{`type: .*`, types},
	})
}

// edit replaces what patterns find at the beginnings of lines of a file of the
// environment, indentation apart. @ stands for that indentation. A pattern that
// finds nothing is an error: then `talosgen init` writes something else than it did.
func (r *repository) edit(name string, with [][2]string) error {
	file := filepath.Join(r.root(), "envs", environment, name)
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(data)
	for _, w := range with {
		line := regexp.MustCompile(`(?m)^( *)` + w[0] + `$`)
		if !line.MatchString(text) {
			return fmt.Errorf("%s has no line like %q", name, w[0])
		}
		text = line.ReplaceAllString(text, "${1}"+strings.ReplaceAll(w[1], "@", "${1}"))
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

// publish renders, commits and pushes.
func (r *repository) publish(ctx context.Context, message string) error {
	if _, err := r.do(ctx, "render", environment); err != nil {
		return err
	}
	for _, args := range [][]string{{"add", "--all"}, {"commit", "-q", "-m", message}, {"push", "-q", "-u", "origin", "main"}} {
		if _, err := r.command(ctx, "git", append([]string{"-C", r.root()}, args...)...); err != nil {
			return err
		}
	}
	return nil
}
