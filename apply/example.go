package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
)

// exampleRecipient is the public half of the key in envs/example.agekey of
// talosgen's own repository, which everybody has.
const exampleRecipient = "age1q50r0rahnfq4zhxk4ct3f4v08qj0lhfvq2ppxteuq2a9w6qrcq8sfnduva"

// checkExample refuses a tree that an example key can read, unless what is
// talked to is on this machine: its secrets are known to everybody, so whoever
// finds the cluster owns it. known are further keys that are public.
func (e *Environment) checkExample(endpoint string, known []string) error {
	if reach.OnLoopback(endpoint) {
		return nil
	}
	for _, recipient := range append([]string{exampleRecipient}, known...) {
		if slices.Contains(e.recipients, recipient) {
			return diag.On("environment "+e.name, "an example key, whose private half is public, can decrypt it: %s", recipient).
				WithHint("make a repository with keys of your own: `talosgen init`.\n" +
					"To try it out, start `talosgen sim` and name what it prints with --hcloud-endpoint").
				WithCode(diag.Secrets)
		}
	}
	return nil
}
