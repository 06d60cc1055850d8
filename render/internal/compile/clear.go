package compile

import (
	"fmt"

	"github.com/talosgen/talosgen/internal/secretplaces"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// clearSecrets warns of values that are secret by their names and stand in a patch as
// they are. They came from no encrypted source, so they are not encrypted in the tree
// either.
func (c *Compiler) clearSecrets(said *report, cfg *machine.Config) error {
	for _, d := range cfg.Documents() {
		leaves, err := d.Leaves()
		if err != nil {
			return err
		}
		isSecret, err := cfg.Secret(d)
		if err != nil {
			return err
		}
		for i, l := range leaves {
			if isSecret[i] || l.Value == "" || !secretplaces.Password(l.Path) {
				continue
			}
			said.add(fmt.Sprintf("%s stands in the clear, here and in what is rendered: make it a secret variable (docs/how-to/use-a-secret.md)", clearPlace(d.ID, l.Path)), true)
		}
	}
	return nil
}

// clearPlace names a value so that its place is found: by its path, or by the name of its
// document.
func clearPlace(id machine.ID, path yamltext.Path) string {
	switch place := path.String(); {
	case len(path) > 1:
		return place + " of " + id.Kind
	case id.Name != "":
		return fmt.Sprintf("%s of %s %q", place, id.Kind, id.Name)
	default:
		return fmt.Sprintf("%q of %s", place, id.Kind)
	}
}
