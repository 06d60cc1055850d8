package fit

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/layer"
)

// sealed refuses an environment in whose files the value of a variable is in the clear
// that is encrypted in the source: it is a name or an address, which no patch can hide.
func sealed(origin *foreign.Origin, env string, files map[string][]byte) error {
	var problems diag.List
	for _, v := range origin.Encrypted {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.Contains(name, v.Value.Reveal()) || bytes.Contains(files[name], []byte(v.Value.Reveal())) {
				problems.Add(diag.New(diag.Pos{File: v.File}, "%s is encrypted, and its value would be in the clear in %s, which takes no secrets", v.Name, layer.InEnv(env, name)).
					WithHint("if those may read it who read the repository, have it in the clear in talenv.yaml, and import again"))
				break
			}
		}
	}
	return problems.Err()
}
