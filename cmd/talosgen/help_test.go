package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/secret"
)

// testWorld is a world without files, environment and terminal.
func testWorld() (w *world, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &world{
		stdin: strings.NewReader(""), stdout: stdout, stderr: stderr,
		lookup: func(string) (string, bool) { return "", false },
		cwd:    func() (string, error) { return "/", nil },
		now:    fixedTime, masker: secret.NewMasker(),
	}, stdout, stderr
}

// TestHelp asks every command for help: it has a purpose, an example that
// begins with the command itself, and goes to stdout.
func TestHelp(t *testing.T) {
	w, _, _ := testWorld()
	app := newApp(w)
	var walk func(path []string, commands []*cli.Command)
	walk = func(path []string, commands []*cli.Command) {
		for _, c := range commands {
			if c.Name == "help" {
				continue
			}
			path := append(path[:len(path):len(path)], c.Name)
			t.Run(strings.Join(path[1:], " "), func(t *testing.T) { checkHelp(t, path, c) })
			walk(path, c.Subcommands)
		}
	}
	walk([]string{"talosgen"}, app.Commands)
}

func checkHelp(t *testing.T, path []string, c *cli.Command) {
	w, stdout, stderr := testWorld()
	if code := run(append(path[:len(path):len(path)], "--help"), w); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if stderr.Len() > 0 {
		t.Errorf("on stderr: %s", stderr)
	}
	help := stdout.String()
	if c.Usage == "" || !strings.Contains(help, c.Usage) {
		t.Errorf("no word about what it is for:\n%s", help)
	}
	if len(c.Subcommands) > 0 {
		return
	}
	if _, examples, ok := strings.Cut(help, "Example"); !ok || !strings.Contains(examples, "\n      "+strings.Join(path, " ")) &&
		!strings.Contains(examples, strings.Join(path, " ")+" ") {
		t.Errorf("no example of %q:\n%s", strings.Join(path, " "), help)
	}
}

// TestUsageErrors checks that what is wrong with a command line is said on
// stderr, briefly, with exit code 2.
func TestUsageErrors(t *testing.T) {
	for _, args := range []string{
		"nothing", "render", "render a b", "render --chek a", "render a --chek", "render a -o", "render a -C", "-C", "render a --node",
		"diff", "explain a", "explain a b c d", "show a", "secrets nothing", "secrets edit", "secrets edit a b",
		"secrets import a", "convert-patch", "completion", "completion bash zsh", "init", "init a b", "version -x",
		"-x", "schema -x", "schema a", "version a", "help nothing",
	} {
		t.Run(args, func(t *testing.T) {
			w, stdout, stderr := testWorld()
			if code := run(append([]string{"talosgen"}, strings.Fields(args)...), w); code != 2 {
				t.Errorf("exit code %d", code)
			}
			if stdout.Len() > 0 {
				t.Errorf("on stdout: %s", stdout)
			}
			if text := stderr.String(); !strings.HasPrefix(text, "error: ") || strings.Count(text, "\n") > 4 {
				t.Errorf("on stderr: %s", text)
			}
		})
	}
}
