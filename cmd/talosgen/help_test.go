package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/secret"
)

// testApp is an app without files, environment and terminal.
func testApp() (w *app, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &app{
		console: console{stdin: strings.NewReader(""), stdout: stdout, stderr: stderr, masker: secret.NewMasker()},
		vars:    func(string) (string, bool) { return "", false },
		cwd:     func() (string, error) { return "/", nil },
		clock:   clock{now: fixedTime},
	}, stdout, stderr
}

// TestHelp asks every command for help: it has a purpose, an example that
// begins with the command itself, and goes to stdout.
func TestHelp(t *testing.T) {
	w, _, _ := testApp()
	app := newCLI(w)
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
	w, stdout, stderr := testApp()
	if code := run(append(path[:len(path):len(path)], "--help"), w); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if stderr.Len() > 0 {
		t.Errorf("on stderr: %s", stderr)
	}
	help := stdout.String()
	if c.Usage == "" || !strings.Contains(strings.Join(strings.Fields(help), " "), c.Usage) {
		t.Errorf("no word about what it is for:\n%s", help)
	}
	checkLines(t, help)
	if len(c.Subcommands) > 0 {
		return
	}
	if _, examples, ok := strings.Cut(help, "Example"); !ok || !strings.Contains(examples, "\n      "+strings.Join(path, " ")) &&
		!strings.Contains(examples, strings.Join(path, " ")+" ") {
		t.Errorf("no example of %q:\n%s", strings.Join(path, " "), help)
	}
}

// checkLines checks that help reads well at 80 columns: no line is longer, none
// has a single word left over from the one before, and no list is empty.
func checkLines(t *testing.T, help string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(help, "\n"), "\n")
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > helpWidth {
			t.Errorf("%d columns: %s", n, line)
		}
		if strings.HasSuffix(line, " ") || strings.Contains(line, "\t") {
			t.Errorf("ends with a space, or has a tab: %q", line)
		}
		words := strings.Fields(line)
		if i == 0 || len(words) != 1 || len(line)-len(words[0]) != helpColumn || len(lines[i-1]) < helpColumn {
			continue
		}
		if before := strings.Fields(lines[i-1][helpColumn:]); len(before) > 2 {
			t.Errorf("a word is left over: %q", line)
		}
	}
	if regexp.MustCompile(`(?m)^[A-Z ]+:\n(\n|\z)`).MatchString(help) {
		t.Errorf("a section without a line:\n%s", help)
	}
}

// TestHelpOfAll is the list of commands: every command is in it once, those of
// every day first.
func TestHelpOfAll(t *testing.T) {
	w, stdout, _ := testApp()
	if code := run([]string{"talosgen", "--help"}, w); code != 0 {
		t.Errorf("exit code %d", code)
	}
	help := stdout.String()
	checkLines(t, help)
	sections := regexp.MustCompile(`(?m)^[A-Z ]+:$`).FindAllString(help, -1)
	want := "NAME: USAGE: DESCRIPTION: EVERY DAY: SOURCES: READING AND CHECKING: CLUSTERS AND NODES: WITHOUT AN ACCOUNT: OTHER: OPTIONS:"
	if got := strings.Join(sections, " "); got != want {
		t.Errorf("sections %s", got)
	}
	for _, c := range newCLI(w).Commands {
		if n := len(regexp.MustCompile(`(?m)^   `+c.Name+` +\S`).FindAllString(help, -1)); n != 1 {
			t.Errorf("%s is listed %d times", c.Name, n)
		}
	}
}

func TestReflow(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "one": "one", "one two": "one two",
		"one two three four five":         "one two|three four|five",
		"aaa bbb ccc ddd":                 "aaa bbb|ccc ddd",
		"aaa bb cc ddd":                   "aaa bb|cc ddd",
		"a b\nc\n\nd":                     "a b c||d",
		"list:\n - one two three four\nx": "list:| - one two three four|x",
		"incomprehensibilities x":         "incomprehensibilities|x",
	} {
		if got := strings.Join(reflow(text, 10), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestUsageErrors checks that what is wrong with a command line is said on
// stderr, briefly, with exit code 2.
func TestUsageErrors(t *testing.T) {
	for _, args := range []string{
		"nothing", "render", "render a b", "render --chek a", "render a --chek", "render a -o", "render a -C", "-C", "render a --node",
		"diff", "explain a", "explain a b c d", "show a", "secrets nothing", "secrets edit", "secrets edit a b", "secrets set a",
		"secrets import a", "convert-patch", "completion", "completion bash zsh", "init", "init a b", "version -x",
		"-x", "schema -x", "schema a", "version a", "help nothing",
	} {
		t.Run(args, func(t *testing.T) {
			w, stdout, stderr := testApp()
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
