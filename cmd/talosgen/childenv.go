package main

import (
	"regexp"
	"strings"
)

// An editor and git, which talosgen runs, load plugins, hooks
// and helpers of others. None of them needs what opens secrets or a project.
var (
	// secretName is part of the names of variables that hold such.
	secretName = regexp.MustCompile(`(?i)token|secret|passw|passphrase|private|credential|(^|_)(key|apikey|pat|auth)(_|$)|api_?key|access_?key`)
	// secretService begins the names of variables that are about services which
	// open keys.
	secretService = regexp.MustCompile(`^(SOPS_|VAULT_|HCLOUD_|HETZNER_|ROBOT_|AWS_|AZURE_|GOOGLE_|GCP_|ACTIONS_ID_|CI_JOB_JWT)`)
	// noSecret are those whose names say one of these words, and which hold none.
	noSecret = regexp.MustCompile(`^(SSH_AUTH_SOCK|XAUTHORITY|SOPS_EDITOR|GIT_CONFIG_(COUNT|KEY_[0-9]+|NOSYSTEM|GLOBAL|SYSTEM)|GNOME_KEYRING_CONTROL)$`)
)

// childEnvironment is what of an environment the child gets: nothing that is
// secret by its name, or by its value, if that is known.
func childEnvironment(environ []string, isSecret func(value string) bool) []string {
	var clean []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case isSecret(value), holdsPassword(value):
		case noSecret.MatchString(name), !secretName.MatchString(name) && !secretService.MatchString(name):
			clean = append(clean, variable)
		}
	}
	return clean
}

// passwordInURL is the part of a URL that names a user with a password.
var passwordInURL = regexp.MustCompile(`[a-z]://[^/@\s:]*:[^/@\s]+@`)

func holdsPassword(value string) bool {
	return passwordInURL.MatchString(value) || strings.Contains(value, "AGE-SECRET-KEY-") || strings.Contains(value, "PRIVATE KEY-----")
}
