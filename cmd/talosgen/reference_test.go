package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/secret"
)

//go:generate go test -run ^(TestCommandReference|TestRunSchema)$ -update .

// TestCommandReference compares the reference of the commands with what they
// say about themselves, or writes it.
func TestCommandReference(t *testing.T) {
	const head = `<!-- Written from what commands say about themselves, by go generate ./cmd/talosgen. -->

# Commands

` + "`--repo`" + ` goes with every command. Flags may stand before or after other arguments.
[Exit codes](exit-codes.md) are the same for all.
`
	file := filepath.Join(repository, "docs", "reference", "commands.md")
	want := head + commandReference(t, nil, newCLI(&app{}).Commands)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("%s is not current: run go generate ./cmd/talosgen (%v)", file, err)
	}
}

// commandReference describes commands and those below them.
func commandReference(t *testing.T, path []string, commands []*cli.Command) string {
	var b strings.Builder
	for _, c := range commands {
		name := append(path[:len(path):len(path)], c.Name)
		b.WriteString("\n## " + strings.Join(name, " ") + "\n\n```text\n" + help(t, name) + "\n```\n")
		b.WriteString(commandReference(t, name, c.Subcommands))
	}
	return b.String()
}

// help is what a command prints when it is asked for help.
func help(t *testing.T, command []string) string {
	var stdout, stderr bytes.Buffer
	w := &app{
		console: console{stdout: &stdout, stderr: &stderr, masker: secret.NewMasker()},
		vars:    func(string) (string, bool) { return "", false },
	}
	if code := run(append(append([]string{"talosgen"}, command...), "--help"), w); code != 0 || stderr.Len() > 0 {
		t.Fatalf("%v --help: exit code %d, %s", command, code, stderr.String())
	}
	var lines []string
	for line := range strings.Lines(stdout.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
