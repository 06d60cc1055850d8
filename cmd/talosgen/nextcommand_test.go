package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCommandLine has a shell read what is written for it.
func TestCommandLine(t *testing.T) {
	for want, words := range map[string][]string{
		"git -C infra/talos":        {"git", "-C", "infra/talos"},
		"cd 'my clusters'":          {"cd", "my clusters"},
		`a 'it'\''s' '' --b=c`:      {"a", "it's", "", "--b=c"},
		"cd '~/größer' '$(id)`;*&'": {"cd", "~/größer", "$(id)`;*&"},
	} {
		got := commandLine(words)
		if got != want {
			t.Errorf("%q are written %s, want %s", words, got, want)
		}
		read, err := exec.Command("sh", "-c", `printf '%s\n' `+got).Output()
		if lines := strings.Split(strings.TrimSuffix(string(read), "\n"), "\n"); err != nil || !slices.Equal(lines, words) {
			t.Errorf("sh reads %s as %q (%v), want %q", got, lines, err, words)
		}
	}
}
