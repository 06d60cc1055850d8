package upgrade

import (
	"context"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// facts are what a node says of the boot that it is in, and what stays so until the
// next one.
type facts struct {
	boot, name, talos, schematic, platform string
	extensions                             []string
	secureBoot                             bool
	room                                   uint64 // for systems, in bytes; 0: not known
	invalid                                string
}

// factsOf reads them once in each boot.
func (u observer) factsOf(ctx context.Context, c *node.Client, w upgradeplan.Want) (f facts, err error) {
	if f.boot, err = c.BootID(ctx); err != nil {
		return f, err
	}
	u.mu.Lock()
	known := u.facts[w.Name]
	u.mu.Unlock()
	if known.boot == f.boot {
		return known, nil
	}
	for _, read := range []func() error{
		func() (err error) { f.name, err = c.Nodename(ctx); return err },
		func() (err error) { f.talos, err = c.Version(ctx); return err },
		func() (err error) { f.platform, err = c.Platform(ctx); return err },
		func() (err error) { f.extensions, f.schematic, err = c.Extensions(ctx); return err },
		func() (err error) { f.secureBoot, err = c.SecureBoot(ctx); return err },
		func() (err error) { f.room, err = c.BootSize(ctx); return err },
		func() (err error) { f.invalid, err = invalid(ctx, c, w, f); return err },
	} {
		if err := read(); err != nil {
			return f, err
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.facts == nil {
		u.facts = map[string]facts{}
	}
	u.facts[w.Name] = f
	return f, nil
}

// invalid says why Git's Talos would refuse the configuration that the node has, as far
// as this can be known here: a Talos that runs has accepted it.
func invalid(ctx context.Context, c *node.Client, w upgradeplan.Want, f facts) (string, error) {
	if !node.Judged(w.Talos) || node.Judged(f.talos) {
		return "", nil
	}
	config, err := c.Config(ctx)
	if err != nil {
		return "", err
	}
	return node.Invalid(config, f.platform), nil
}

// addTo notes the facts at a node.
func (f facts) addTo(n *upgradeplan.Node) {
	n.Registers, n.Boot, n.Talos, n.Schematic, n.Platform = f.name, f.boot, f.talos, f.schematic, f.platform
	n.Extensions, n.SecureBoot, n.Invalid = f.extensions, f.secureBoot, f.invalid
}

// systems is how many installers of Git's system must fit into the partition with the
// systems: the one that runs has about the size of the new one. An image is larger than
// the system in it, as it also holds what installs it.
const systems = 2

// cramped reports whether a partition has no room for two systems like those of the
// installers that the node has pulled. Before the first one nobody knows.
func cramped(room uint64, installer string, images []node.Image) bool {
	for _, i := range images {
		if room > 0 && strings.HasPrefix(i.Name, installer) && i.Size*systems > room {
			return true
		}
	}
	return false
}
