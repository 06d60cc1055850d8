package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleases makes the site of a repository with a release from before there was
// documentation, another one, and what came after.
func TestReleases(t *testing.T) {
	repository, out := t.TempDir(), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, output)
		}
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(repository, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	release := func(tag string) {
		t.Helper()
		run("add", ".")
		run("commit", "-qm", "x")
		run("tag", tag)
	}
	run("init", "-q")
	write("a", "a")
	release("v0.1.0")
	write("docs/README.md", "# Documentation\n\nOf the release.\n\n[a](../a)\n")
	release("v0.2.0")
	write("docs/README.md", "# Documentation\n\nOf today.\n")

	if err := site(repository, out); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"main/index.html":  "Of today.",
		"0.2.0/index.html": `Of the release.</p>` + "\n" + `<p><a href="https://github.com/talosgen/talosgen/blob/v0.2.0/a">a</a>`,
		"index.html":       "url=0.2.0/",
	} {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s has no %s: %v\n%s", name, want, err, data)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "0.1.0")); err == nil {
		t.Error("there is a site of v0.1.0")
	}
	if err := site(t.TempDir(), out); err == nil {
		t.Error("a folder without documentation: no error")
	}
}

func site(repository, out string) error { return run(repository, out, true, nil) }
