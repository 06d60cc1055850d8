package main

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// TestTurns: among three hundred lives, each kind of change is added and
// taken away, and only machines of others never leave their pool.
func TestTurns(t *testing.T) {
	seen := map[string]int{}
	for _, seed := range firstSeeds(300, lives) {
		turn := turnOf(generate.Options{Seed: seed})
		way, feature, _ := strings.Cut(turn.feature, " ")
		seen[way]++
		for _, kind := range []string{"env0.patches.", "env0.addons", "env0.talos.", "env0.kubernetes.", "env0.hetzner.", pools} {
			if strings.HasPrefix(feature, kind) {
				seen[way+" "+kind]++
			}
		}
		if same := reflect.DeepEqual(turn.begin.Files, turn.end.Files); same != (feature == "") {
			t.Errorf("seed %d: %s: the sources are the same: %t", seed, turn.feature, same)
		}
		if way == "without" && feature == pools && turn.begin.Environments[0].Provider == schemas.Static {
			t.Errorf("seed %d takes machines away that are not talosgen's", seed)
		}
	}
	for _, kind := range []string{"env0.patches.", "env0.addons", "env0.talos.", "env0.kubernetes.", "env0.hetzner.", pools} {
		for _, way := range []string{"with", "without"} {
			if seen[way+" "+kind] == 0 {
				t.Errorf("no life is %s %s: %v", way, kind, seen)
			}
		}
	}
}

// TestSound finds a command that is suggested and does not exist, a secret, and a
// mask in a name.
func TestSound(t *testing.T) {
	for said, want := range map[string]string{
		"next:\n  talosgen apply b --yes --allow Role/kube-system/x\n      agrees\n": "",
		"next:\n  talosgen modernise b\n":                                            `there is no command "modernise"`,
		"next:\n  talosgen apply b --agree\n":                                        `there is no flag "--agree"`,
		"run `talosgen rendr b`\n":                                                   `there is no command "rendr"`,
		"token: canary-0123456789\n":                                                 "there is a secret",
		"network/name-" + secret.Mask + "-1\n":                                       "something is hidden",
	} {
		g := &generated{secrets: []string{"canary-0123456789"}}
		g.said.WriteString(said)
		if err := errors.Join(g.sound(), g.suggestsWhatExists()); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", said, err, want)
		}
	}
}
