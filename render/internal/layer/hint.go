package layer

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// nameHint says what is wrong with the name of a patch file; empty if nothing.
func nameHint(name string) string {
	ending := path.Ext(name)
	bare := strings.TrimSuffix(name, ending)
	switch ending {
	case ".yaml":
		return ""
	case ".yml":
		return "rename it to " + bare + ".yaml"
	case ".tpl", ".tmpl", ".gotmpl", ".j2":
		return "patches are not templates; rename it to " + stem(bare) +
			".yaml and use ${NAME} for variables"
	case ".json":
		return "patches are strategic merge patches in YAML; JSON6902 patches are not supported"
	default:
		return "patches are named *.yaml, encrypted ones *.sops.yaml; a name that starts with a dot is ignored"
	}
}

// placeHint says where a file or directory with an unknown name may belong.
func (a *arranger) placeHint(name string, known []string) string {
	patches := path.Join(a.dir, PatchesDir)
	switch {
	case name == "pools" || name == "nodes":
		return "patches of pools and nodes belong to an environment: " + patches + "/" + name + "/<name>.yaml"
	case a.nodes[name]:
		return "a node's patches are in " + patches + "/nodes/" + name
	case a.pools[name]:
		return "a pool's patches are in " + patches + "/pools/" + name
	}
	return suggestOr(name, known, "known names")
}

// memberHint says which pool or node may have been meant.
func (a *arranger) memberHint(target string, kind Kind) string {
	known, other, otherDir := a.pools, a.nodes, "nodes"
	if kind == Node {
		known, other, otherDir = a.nodes, a.pools, "pools"
	}
	if other[target] {
		return "move it to " + path.Join(a.dir, PatchesDir, otherDir, target)
	}
	names := slices.Sorted(maps.Keys(known))
	if s := diag.Suggest(target, names); s != "" {
		return s
	}
	const most = 10 // names in a message
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return suggestOr(target, names, string(kind)+"s")
}
