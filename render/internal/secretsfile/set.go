package secretsfile

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
)

// SetVariable returns the decrypted file with a value for a secret variable. What
// else is there stays as it is, with its comments. added names the variable if it
// was not there before.
func SetVariable(file string, plain []byte, name string, value secret.String) (out []byte, added []string, err error) {
	root, err := parseRoot(file, plain)
	if err != nil {
		return nil, nil, err
	}
	if added, err = addVariables(file, root, map[string]secret.String{name: value}); err != nil {
		return nil, nil, err
	}
	if old := variable(root, name); len(added) == 0 {
		if old.Kind == yaml.ScalarNode && old.Value == value.Reveal() {
			return plain, nil, nil
		}
		old.Kind, old.Tag, old.Style, old.Content, old.Value = yaml.ScalarNode, "!!str", 0, nil, value.Reveal()
	}
	if out, err = encode(file, root); err != nil {
		return nil, nil, err
	}
	return out, added, nil
}

// variable is where the value of a secret variable stands; nil if it has none.
func variable(root *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(root.Content); i += 2 {
		variables := root.Content[i+1]
		if root.Content[i].Value != KeyVariables {
			continue
		}
		for j := 0; j+1 < len(variables.Content); j += 2 {
			if variables.Content[j].Value == name {
				return variables.Content[j+1]
			}
		}
	}
	return nil
}
