package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
)

// Friction 17: colours are for terminals that know them, and for nobody who said no.
func TestColours(t *testing.T) {
	for _, tt := range []struct {
		vars     map[string]string
		terminal bool
		want     bool
	}{
		{nil, true, true},
		{nil, false, false},
		{map[string]string{"TERM": "dumb"}, true, false},
		{map[string]string{"NO_COLOR": "1"}, true, false},
		{map[string]string{"NO_COLOR": ""}, true, true},
		{map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		{map[string]string{"CLICOLOR_FORCE": "0"}, false, false},
		{map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, true, false},
	} {
		vars := environ(func(name string) (string, bool) { value, found := tt.vars[name]; return value, found })
		if got := colours(vars, tt.terminal); got != tt.want {
			t.Errorf("%v, terminal %t: %t", tt.vars, tt.terminal, got)
		}
	}
}

// What others chose has no colours of its own, and what is painted loses no letter.
func TestPainted(t *testing.T) {
	const text = "dev: 2 to create\n\n+ server/a  (needs consent)\n    type  a -> b\n  ~ b\n- c\nok       tree  fine\nrefused:\n  x\nPlan: 1 to add\n-\n"
	got := painted(text)
	for _, want := range []string{green + "+" + reset + " server/a", "  " + yellow + "~" + reset + " b", red + "-" + reset + " c", green + "ok" + reset, red + "refused:" + reset, bold + "Plan: 1 to add" + reset} {
		if !strings.Contains(got, want) {
			t.Errorf("nothing is %q in\n%q", want, got)
		}
	}
	if plain := withoutColours(got); plain != text {
		t.Errorf("it is\n%s", plain)
	}
	const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n"
	if got := painted(diff); withoutColours(got) != diff || !strings.Contains(got, red+"-old"+reset) || !strings.Contains(got, green+"+new"+reset) {
		t.Errorf("%q", got)
	}
}

// A console whose stdout is a terminal paints what it prints; a pipe gets the text.
func TestPrintTextPaints(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		var out, err bytes.Buffer
		o := console{stdout: &out, stderr: &err, shows: terminal, masker: secret.NewMasker()}
		o.protect(func(string) (string, bool) { return "", false })
		if e := o.printText("+ a \x1b[2J\n"); e != nil || strings.Contains(out.String(), "\x1b[2J") || strings.Contains(out.String(), green) != terminal {
			t.Errorf("terminal %t: %q (%v)", terminal, out.String(), e)
		}
	}
}

func withoutColours(text string) string {
	return strings.NewReplacer(red, "", green, "", yellow, "", cyan, "", bold, "", reset, "").Replace(text)
}
