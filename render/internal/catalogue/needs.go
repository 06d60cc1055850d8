package catalogue

import (
	"io"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// Need is a secret that an addon needs: a variable in secrets.sops.yaml.
type Need struct {
	// The name of the variable.
	Name string
	// Its addon.
	Addon string
	// The option of cluster.yaml that asks for it.
	Option string
	// What it is, for messages, such as: the token of the Hetzner Cloud project.
	What string
	// Generate makes one from random bytes, for secrets sync. Nil if nobody can
	// make it up, such as a password of an account.
	Generate func(random io.Reader) (secret.String, error)
	// Readable tells that it may be a variable that everyone can read, such as the
	// user of an account.
	Readable bool
	// Copied tells that it goes into a Secret as it is: nothing is computed with it, and
	// another text like it does where secrets are exchanged for others. What is made
	// does not depend on the given random bytes alone.
	Copied bool
	// Shape is a text that looks like one and is none, for a render without
	// keys.
	Shape string
}

// Needs lists the secrets that the addons of a cluster need, each once, in the
// order of the addons. It looks at no secret.
func Needs(given Facts) []Need {
	f := &facts{Facts: given}
	var all []Need
	for _, e := range entries() {
		on, origin := f.enabled(e)
		if !on {
			continue
		}
		all = append(all, f.secretsOf(e, origin)...)
	}
	for _, name := range f.declaredNames() {
		all = append(all, secretNeeds(name, f.setting(name).Needs.Secrets)...)
	}
	return eachOnce(all)
}

// eachOnce leaves out those that others need, too.
func eachOnce(needs []Need) (all []Need) {
	for _, need := range needs {
		if !slices.ContainsFunc(all, func(n Need) bool { return n.Name == need.Name }) {
			all = append(all, need)
		}
	}
	return all
}

// secretsOf are the secrets that an entry needs, with whose they are.
func (f *facts) secretsOf(e entry, origin string) []Need {
	var needs []Need
	if e.needs != nil {
		needs = e.needs(f)
	}
	for i := range needs {
		needs[i].Addon = e.name
		if needs[i].Option == "" {
			needs[i].Option = origin
		}
	}
	return append(needs, secretNeeds(e.name, f.setting(e.name).Needs.Secrets)...)
}

// secretNeeds are the secret variables that cluster.yaml says an addon needs.
func secretNeeds(addon string, variables []string) (all []Need) {
	at := "addons." + addon + ".needs.secrets"
	for i, name := range variables {
		all = append(all, Need{Name: name, Addon: addon, Option: at + "." + strconv.Itoa(i), What: at + " says so", Shape: "placeholder"})
	}
	return all
}

// checkSecrets reports secrets that an addon needs and the environment lacks.
func (f *facts) checkSecrets(needs []Need) {
	for _, n := range needs {
		if !f.Secrets[n.Name].IsZero() || f.missing[n.Name] {
			continue
		}
		if f.missing == nil {
			f.missing = map[string]bool{}
		}
		f.missing[n.Name] = true
		p := diag.New(f.near(n.Option), "addon %s needs the secret variable %s: %s", n.Addon, n.Name, n.What).WithCode(diag.Secrets)
		if n.Generate != nil {
			p.WithHint("`talosgen secrets sync %s` makes it", f.Environment)
		} else {
			p.WithHint("set it in your environment and run `talosgen secrets sync %s`, which keeps it encrypted;\nor turn the addon off: addons.%s.enabled: false", f.Environment, n.Addon)
		}
		f.problems.Add(p)
	}
}

// hcloudToken is the variable that holds the token of the Hetzner Cloud project.
const hcloudToken = "HCLOUD_TOKEN"

// tokenShape is a text of the form of such a token.
const tokenShape = "0000000000000000000000000000000000000000000000000000000000000000"

// needToken is the need of what talks to the Hetzner Cloud API.
func needToken(*facts) []Need {
	return []Need{{Name: hcloudToken, What: "a token of the Hetzner Cloud project that may read and write", Shape: tokenShape}}
}
