package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// secretFlag is the name of a flag that would take a secret.
var secretFlag = regexp.MustCompile(`token|password|passphrase|secret|private|credential`)

// TestNoSecretInProcessList: everybody on a machine sees the arguments of every
// program. So no flag takes a secret, and what sim starts gets the token in its
// environment only. That apply starts nothing at all is a rule of archtest.
func TestNoSecretInProcessList(t *testing.T) {
	w, _, _ := testApp()
	var walk func(path string, commands []*cli.Command)
	walk = func(path string, commands []*cli.Command) {
		for _, c := range commands {
			for _, flag := range c.Flags {
				for _, name := range flag.Names() {
					if secretFlag.MatchString(name) {
						t.Errorf("%s %s --%s takes a secret as an argument", path, c.Name, name)
					}
				}
			}
			walk(path+" "+c.Name, c.Subcommands)
		}
	}
	walk("talosgen", newCLI(w).Commands)

	const list = `tr '\0' '\n' <"/proc/$$/cmdline"; tr '\0' '\n' <"/proc/$PPID/cmdline"; case $HCLOUD_TOKEN in 6b6b*) echo it has a token;; esac`
	w, stdout, stderr := testApp()
	w.random = strings.NewReader(strings.Repeat("k", 4096)) // "6b6b…" is the token
	if code := run([]string{"talosgen", "sim", "--", "sh", "-c", list}, w); code != 0 {
		t.Skipf("processes cannot be listed here: exit code %d\n%s", code, stderr)
	}
	if out := stdout.String(); strings.Contains(out, "6b6b6b6b") || !strings.Contains(out, "it has a token") {
		t.Errorf("the arguments are\n%s", out)
	}
}
