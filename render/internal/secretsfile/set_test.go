package secretsfile

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
)

// TestSetVariable: one value changes, and everything else stays as it is.
func TestSetVariable(t *testing.T) {
	for _, tt := range []struct{ name, old, value, want, added string }{
		{"the first", "clusterAgeKey: k # keep\n", "v", "clusterAgeKey: k # keep\nvariables:\n    A: v\n", "variables.A"},
		{"none yet", "variables:\n", "v", "variables:\n    A: v\n", "variables.A"},
		{"one more", "variables:\n    B: w # mine\n", "v", "variables:\n    B: w # mine\n    A: v\n", "variables.A"},
		{"another value", "# note\nvariables:\n    A: u # mine\n    B: w\n", "v", "# note\nvariables:\n    A: v # mine\n    B: w\n", ""},
		{"the same value", "variables: {A: v}\n", "v", "variables: {A: v}\n", ""},
		{"a text and no number", "variables:\n    A: 80\n", "81", "variables:\n    A: \"81\"\n", ""},
		{"what means something to YAML", "variables:\n    A: u\n", "*x: # y", "variables:\n    A: '*x: # y'\n", ""},
		{"several lines", "variables:\n    A: u\n", "1\n2", "variables:\n    A: |-\n        1\n        2\n", ""},
		{"no value before", "variables:\n    A:\n", "v", "variables:\n    A: v\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, added, err := SetVariable(file, []byte(tt.old), "A", secret.New(tt.value))
			if err != nil || string(out) != tt.want || strings.Join(added, " ") != tt.added {
				t.Fatalf("%q, %v, %v", out, added, err)
			}
			if s, err := Parse(file, out); err != nil || s.Variables["A"].Reveal() != tt.value {
				t.Errorf("read again: %v", err)
			}
		})
	}
	if _, _, err := SetVariable(file, []byte("variables: CANARY"), "A", secret.New("v")); err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("got %v", err)
	}
}
