package config

import (
	"regexp"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// checkOCI checks an artifact in a registry, which takes the place of a repository.
func (ch gitOpsRules) checkOCI() {
	o, at := ch.GitOps.OCI, keys("gitops.oci")
	if o.URL == "" {
		if !ch.has(sub(at, "url")...) {
			ch.fail("for example url: oci://ghcr.io/example/clusters", at, "an artifact without url")
		}
		return
	}
	for _, key := range []string{"repository", "branch", "auth", "user", "knownHosts", "verifyKeys"} {
		if of := []string{"gitops", key}; ch.has(of...) {
			ch.fail("remove it, or gitops.oci", of, "gitops.%s beside an artifact in a registry", key)
		}
	}
	given := 0
	for _, key := range []string{"tag", "semver", "digest"} {
		if ch.has(sub(at, key)...) {
			if given++; given > 1 {
				ch.fail("Flux follows one of tag, semver and digest", sub(at, key), "gitops.oci.%s beside another one", key)
			}
		}
	}
	if len(o.VerifyKeys) > 0 && len(o.VerifyIdentities) > 0 {
		ch.fail("Flux verifies by keys, or by who signed without one", sub(at, "verifyIdentities"), "keys and identities")
	}
	for i, identity := range o.VerifyIdentities {
		item := append(sub(at, "verifyIdentities"), strconv.Itoa(i))
		ch.expression(sub(item, "issuer"), identity.Issuer)
		ch.expression(sub(item, "subject"), identity.Subject)
	}
}

// expression wants a regular expression, as Flux reads it.
func (ch gitOpsRules) expression(at []string, text string) {
	if _, err := regexp.Compile(text); err != nil {
		ch.fail("the syntax is that of Go's package regexp", at, "not a regular expression: %v", err)
	}
}

// sourceKind is the kind of Flux' object that has what runs.
func sourceKind(g schemas.GitOps) string {
	if g.OCI.URL != "" {
		return "OCIRepository"
	}
	return "GitRepository"
}
