package source

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/placeholder"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// Placeholders makes up secrets of the right shape, under the names that the
// encrypted files show.
func (e *Environment) Placeholders() (*Secrets, error) {
	bundle, err := machine.PlaceholderBundle(BundleContract(), e.Repo.Process.Now())
	if err != nil {
		return nil, err
	}
	return &Secrets{Bundle: bundle, Variables: e.SecretVariables()}, nil
}

// SecretVariables are the secret variables with placeholders as values.
func (e *Environment) SecretVariables() subst.Vars {
	vars := subst.Vars{}
	for _, name := range e.secretNames() {
		vars[name] = subst.Var{Value: placeholder.Text, Secret: true}
	}
	return vars
}

// BundleContract is the contract of new bundles, which work for all contracts:
// bundles differ only in what old Talos versions lacked.
func BundleContract() string { return versions.Newest().Contract() }

// secretNames returns the names of the secret variables. SOPS encrypts values,
// not names.
func (e *Environment) secretNames() []string {
	var names []string
	var file struct {
		Variables map[string]yaml.Node `yaml:"variables"`
	}
	// What is wrong with the files is found by whoever has the keys.
	if yaml.Unmarshal(e.Raw[e.File(SecretsName)], &file) == nil {
		for name := range file.Variables {
			names = append(names, name)
		}
	}
	for line := range strings.Lines(string(e.Raw[e.File(secretEnvFile)])) {
		if name, value, ok := strings.Cut(line, "="); ok && sopsage.IsEncryptedValue(value) {
			names = append(names, name)
		}
	}
	return names
}
