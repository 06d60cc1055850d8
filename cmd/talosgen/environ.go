package main

import (
	"path/filepath"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// environ finds a variable of the process's environment.
type environ func(name string) (value string, set bool)

// get returns the value of a variable; empty if it is not set.
func (e environ) get(name string) string {
	value, _ := e(name)
	return value
}

// secret returns the value of a variable that holds a secret.
func (e environ) secret(name string) secret.String { return secret.New(e.get(name)) }

// inHome is a file in the user's home.
func (e environ) inHome(path ...string) (string, error) {
	home := e.get("HOME")
	if home == "" {
		return "", diag.On("", "the home directory is unknown: HOME is not set").WithHint("name a file with --output").WithCode(diag.Usage)
	}
	return filepath.Join(append([]string{home}, path...)...), nil
}

// tokenOf is the token for the project of an environment: $HCLOUD_TOKEN_ with the name of
// the environment in capitals, and else $HCLOUD_TOKEN, which several environments may
// share. A simulated project has the latter.
func (e environ) tokenOf(env string, simulated bool) secret.String {
	own := e.secret(tokenVariable + "_" + strings.ToUpper(strings.ReplaceAll(env, "-", "_")))
	if own.IsZero() || simulated {
		return e.secret(tokenVariable)
	}
	return own
}
