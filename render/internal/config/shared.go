package config

import (
	"encoding/pem"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/schemas"
)

// lastLegacyMinor is the last minor version of Talos 1 with a single document
// for most of a machine configuration; some fields did not get a home in those
// that follow.
const lastLegacyMinor = 13

// legacyOnly refuses an option that a newer contract has no home for.
func (r *reporter) legacyOnly(at []string, hint string) {
	if c := r.Talos.ConfigContract; c != "" && versions.Minor(c) > lastLegacyMinor {
		r.fail(hint+"; or set talos.configContract: v1."+strconv.Itoa(lastLegacyMinor), at,
			"%s has no place in machine configurations of contract %s", display(at), c)
	}
}

// variable checks a variable that the file names: that it is there, and
// that a secret one is secret. The name is not shown: it may be the secret
// itself, put into the wrong place.
func (r *reporter) variable(at []string, name string, secret bool) {
	if name == "" || !r.has(at...) {
		return // absent, or reported already; what has a default is looked for later
	}
	v, ok := r.scope.Lookup(name)
	switch {
	case !ok && r.lacking != nil:
		*r.lacking = append(*r.lacking, Lacking{Option: display(at), Variable: name})
	case !ok:
		hint := "talosgen secrets edit adds one under variables:"
		if suggestion := diag.Suggest(name, r.scope.Names()); suggestion != "" {
			hint = suggestion + "\n" + hint
		}
		r.fail(hint, at, "%s names a variable that is not defined", display(at))
	case secret && !v.Secret:
		r.fail("move it to variables: in secrets.sops.yaml: talosgen secrets edit", at, "%s names a variable that everyone can read", display(at))
	}
}

// namesOf lists what must be unique of the items of a list.
func namesOf[T any](items []T, name func(T) string) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = name(item)
	}
	return names
}

// unique finds a name that is in a list twice. The name is the item itself,
// or its value for key.
func (r *reporter) unique(list []string, key string, names []string) {
	first := map[string]int{}
	for i, name := range names {
		before, twice := first[name]
		if !twice || name == "" {
			first[name] = i
			continue
		}
		at := sub(list, strconv.Itoa(i))
		if key != "" {
			at = sub(at, key)
		}
		r.fail("the first one is on "+onLine(r.Config, r.Pos(sub(list, strconv.Itoa(before))...)), at, "%s has %q twice", display(list), name)
	}
}

// certificates wants certificates only. What it refuses it does not show:
// it may be a private key.
func (r *reporter) certificates(at []string, text string) {
	if text == "" {
		return // absent, or reported already
	}
	for rest := []byte(text); strings.TrimSpace(string(rest)) != ""; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil:
			r.fail("PEM begins with -----BEGIN CERTIFICATE-----", at, "%s holds something that is not PEM", display(at))
			return
		case block.Type != "CERTIFICATE":
			r.fail("this file is readable for everyone; only certificates belong here", at, "%s holds something that is not a certificate", display(at))
			return
		}
	}
}

// healthCheck wants an answer before the next question.
func (r *reporter) healthCheck(at []string, hc schemas.HealthCheck) {
	if hc.Timeout > hc.Interval {
		r.fail("", at, "a timeout of %d seconds, with %d between two attempts", hc.Timeout, hc.Interval)
	}
}
