package compile

import (
	"fmt"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/internal/versions/kubeflags"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// unknownFlags adds the flags, feature gates and admission plugins with which a program
// of the environment's Kubernetes does not start.
func (c *Compiler) unknownFlags(said *report, cfg *machine.Config) error {
	minor := versions.Minor(c.model.Config.Kubernetes.Version)
	for _, d := range cfg.Documents() {
		if !kubeflags.Has(d.ID.Kind) {
			continue
		}
		leaves, err := d.Leaves()
		if err != nil {
			return err
		}
		for _, l := range leaves {
			for _, set := range kubeflags.Of(d.ID.Kind, l.Path, l.Value) {
				if fault := set.Fault(minor); fault != "" {
					said.add(fmt.Sprintf("%s: %s", l.Path, fault), false)
				}
			}
		}
	}
	return nil
}
