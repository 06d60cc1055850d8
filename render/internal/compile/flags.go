package compile

import (
	"fmt"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/internal/versions/kubeflags"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// unfitPrograms adds what keeps a program of Kubernetes from running: flags, feature
// gates and admission plugins that the environment's Kubernetes does not have, and images
// of a Kubernetes that its Talos does not run.
func (c *Compiler) unfitPrograms(said *report, cfg *machine.Config) error {
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
			if kubeflags.ImageOf(d.ID.Kind, l.Path) != "" {
				if fault := c.unfitImage(l.Value); fault != "" {
					said.add(fmt.Sprintf("%s: %s", l.Path, fault), false)
				}
			}
		}
	}
	return nil
}

// unfitImage says why Talos does not run the program in an image; empty if nothing is
// known against it. The image of another version than the environment's may be given by
// a patch or an option. What a Talos runs at most that is newer than all known ones, is
// not known.
func (c *Compiler) unfitImage(image string) string {
	version, talos := machine.VersionTag(image), c.model.Config.Talos.Version
	if version == "" || version == c.model.Config.Kubernetes.Version {
		return "" // that one was compared with the contract
	}
	release, _ := versions.Of(talos)
	minor := versions.Minor(version)
	if minor < release.Oldest || minor > release.Newest && !versions.Newer(talos) {
		return fmt.Sprintf("Talos %s runs Kubernetes 1.%d to 1.%d, not %s", talos, release.Oldest, release.Newest, version)
	}
	return ""
}
