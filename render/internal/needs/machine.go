package needs

import (
	"math/big"
	"strings"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// atLeast begins a need of a number that may be greater.
const atLeast = ">="

// fits tells whether a kernel parameter is as it is needed.
func fits(want, has string) bool {
	number, lower := strings.CutPrefix(want, atLeast)
	if !lower {
		return want == has
	}
	least, ok := new(big.Int).SetString(strings.TrimSpace(number), 10)
	value, is := new(big.Int).SetString(has, 10)
	return ok && is && value.Cmp(least) >= 0
}

// modules are the kernel modules that a machine loads.
func (m Machine) modules() []string {
	all := m.texts("", "", "machine.kernel.modules[].name")
	for _, d := range m.Documents {
		if d.Kind == "KernelModuleConfig" {
			all = append(all, d.Name)
		}
	}
	return all
}

// sysctls are the kernel parameters of a machine. The document of Talos 1.14 wins
// over the old place.
func (m Machine) sysctls() map[string]string {
	all := map[string]string{}
	for _, place := range []struct{ kind, parent string }{{"", "machine.sysctls."}, {"SysctlConfig", "params."}} {
		for _, d := range m.Documents {
			if d.Kind != place.kind {
				continue
			}
			for _, l := range d.Leaves {
				if n := len(l.Path); n > 1 && strings.HasPrefix(pattern(l.Path), place.parent) {
					all[l.Path[n-1].Key] = l.Value
				}
			}
		}
	}
	return all
}

// texts are the values at a path of the documents of a kind and a name; the main one
// has neither. [] is any item.
func (m Machine) texts(kind, name, path string) (all []string) {
	for _, d := range m.Documents {
		if d.Kind != kind || d.Name != name {
			continue
		}
		for _, l := range d.Leaves {
			if pattern(l.Path) == path {
				all = append(all, l.Value)
			}
		}
	}
	return all
}

// pattern is a path with every index left out.
func pattern(p yamltext.Path) string {
	var b strings.Builder
	for i, e := range p {
		switch {
		case e.Index >= 0:
			b.WriteString("[]")
		case i > 0:
			b.WriteString("." + e.Key)
		default:
			b.WriteString(e.Key)
		}
	}
	return b.String()
}
