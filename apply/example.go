package apply

import (
	"net/netip"
	"net/url"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
)

// exampleRecipient is the public half of the key in envs/example.agekey of
// talosgen's own repository, which everybody has.
const exampleRecipient = "age1q50r0rahnfq4zhxk4ct3f4v08qj0lhfvq2ppxteuq2a9w6qrcq8sfnduva"

// checkExample refuses a tree that an example key can read, unless what is
// talked to is on this machine: its secrets are known to everybody, so whoever
// finds the cluster owns it. known are further keys that are public.
func (e *Environment) checkExample(endpoint string, known []string) error {
	if OnLoopback(endpoint) {
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

// OnLoopback reports whether a URL is of this machine alone.
func OnLoopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.IsLoopback()
}
