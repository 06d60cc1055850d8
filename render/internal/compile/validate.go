package compile

import (
	"fmt"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/schemas"
)

// Checked makes the configuration of a node, and adds to found what validation says
// of it. Without keys there is none that could be written: it is nil.
func (c *Compiler) Checked(n model.Node, found *Findings) (*machine.Config, error) {
	if c.in.Texts.Keyless() {
		return nil, trial{c, n}.check(found)
	}
	cfg, err := c.Compose(n)
	if err != nil {
		return nil, err
	}
	return cfg, c.validate(&report{compiler: c, node: n, found: found, skip: noFile}, cfg)
}

// validate runs Talos' validation for a node, strictly at the newest contract.
// Below, what the library warns of are fields whose successor that version of
// Talos does not have yet, and its own `talosctl validate --strict` is silent.
func (c *Compiler) validate(said *report, cfg *machine.Config) error {
	mode := machine.Cloud
	if c.model.Config.Provider == schemas.Static || said.node.Dedicated {
		mode = machine.Metal
	}
	shadowed, err := cfg.Shadowed()
	if err != nil {
		return err
	}
	for _, path := range shadowed {
		said.add(path+" of a patch has no effect: SysctlConfig, which options of cluster.yaml become, wins over it; write the patch as a SysctlConfig", false)
	}
	place, version, err := cfg.OtherInstaller(c.model.Config.Talos.Version)
	if err != nil {
		return err
	}
	if place != "" {
		said.add(fmt.Sprintf("%s installs Talos %s, and talos.version is %s: remove the image from the patch, or set talos.version", place, version, c.model.Config.Talos.Version), true)
	}
	if found, err := cfg.SelectsDisk(); err != nil {
		return err
	} else if mode == machine.Metal && !found && said.node.InstallDisk == "" {
		said.noDisk()
		return nil
	}
	if ignored, err := cfg.IgnoredDisk(); err != nil {
		return err
	} else if ignored && said.node.DiskSelector != (schemas.DiskSelector{}) {
		said.add("machine.install.disk of a patch has no effect: diskSelector of cluster.yaml wins over it; set installDisk there", true)
	}
	if err := c.lostRotation(said, cfg); err != nil {
		return err
	}
	if err := c.unfitPrograms(said, cfg); err != nil {
		return err
	}
	if err := c.unmetNeeds(said, cfg); err != nil {
		return err
	}
	if err := c.clearSecrets(said, cfg); err != nil {
		return err
	}
	warnings, problems, err := cfg.Validate(mode, c.multiDoc)
	if err != nil {
		return err
	}
	if len(problems)+len(warnings) > 0 {
		if said.secrets, err = secretValues(cfg); err != nil {
			return err
		}
	}
	for _, text := range problems {
		said.add("Talos does not accept the configuration: "+text, false)
	}
	for _, text := range warnings {
		said.add(text, true)
	}
	return nil
}

// lostRotation refuses a patch that takes away what a rotation has put there.
func (c *Compiler) lostRotation(said *report, cfg *machine.Config) error {
	base, err := c.Base(said.node)
	if err != nil {
		return err
	}
	lost, err := c.in.Bundle.Lost(base, cfg)
	if err == nil && lost != "" {
		said.add(fmt.Sprintf("a patch replaces what the rotation of %s puts there, so the rotation would not get there: remove that from the patch", lost.Subject()), false)
	}
	return err
}

// secretValues returns the secret values of a configuration.
func secretValues(cfg *machine.Config) ([]secret.String, error) {
	var values []secret.String
	for _, d := range cfg.Documents() {
		leaves, err := d.Leaves()
		if err != nil {
			return nil, err
		}
		isSecret, err := cfg.Secret(d)
		if err != nil {
			return nil, err
		}
		for i, l := range leaves {
			if isSecret[i] {
				values = append(values, secret.New(l.Value))
			}
		}
	}
	return values, nil
}
