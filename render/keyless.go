package render

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/placeholder"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// placeholders makes up secrets of the right shape, under the names that the
// encrypted files show.
func (e *environment) placeholders() (*secrets, error) {
	bundle, err := machine.PlaceholderBundle(bundleContract(), e.repo.world.Now())
	if err != nil {
		return nil, err
	}
	return &secrets{bundle: bundle, variables: e.secretVariables()}, nil
}

// secretVariables are the secret variables with placeholders as values.
func (e *environment) secretVariables() subst.Vars {
	vars := subst.Vars{}
	for _, name := range e.secretNames() {
		vars[name] = subst.Var{Value: placeholder.Text, Secret: true}
	}
	return vars
}

// bundleContract is the contract of new bundles, which work for all contracts:
// bundles differ only in what old Talos versions lacked.
func bundleContract() string { return versions.Newest().Contract() }

// secretNames returns the names of the secret variables. SOPS encrypts values,
// not names.
func (e *environment) secretNames() []string {
	var names []string
	var file struct {
		Variables map[string]yaml.Node `yaml:"variables"`
	}
	// What is wrong with the files is found by whoever has the keys.
	if yaml.Unmarshal(e.raw[e.path(secretsName)], &file) == nil {
		for name := range file.Variables {
			names = append(names, name)
		}
	}
	for line := range strings.Lines(string(e.raw[e.path(secretEnvFile)])) {
		if name, value, ok := strings.Cut(line, "="); ok && sopsage.IsEncryptedValue(value) {
			names = append(names, name)
		}
	}
	return names
}
