package fit

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// encrypted reports whether a value holds one that was encrypted in the source.
// cluster.yaml, which takes no secrets, is not to have it where a patch can.
func (m *builder) encrypted(text string) bool {
	return slices.ContainsFunc(m.Origin.Secrets, func(s secret.String) bool {
		return s.Recognisable() && strings.Contains(text, s.Reveal())
	})
}

// sealed refuses an environment in whose files the value of such a variable is in the
// clear: it is a name or an address, which no patch can hide.
func (m *builder) sealed(files map[string][]byte) error {
	var problems diag.List
	for _, v := range m.Origin.Encrypted {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.Contains(name, v.Value.Reveal()) || bytes.Contains(files[name], []byte(v.Value.Reveal())) {
				problems.Add(diag.New(diag.Pos{File: v.File}, "%s is encrypted, and its value would be in the clear in %s, which takes no secrets", v.Name, m.inEnv("cluster.yaml")).
					WithHint("if those may read it who read the repository, have it in the clear in talenv.yaml, and import again"))
				break
			}
		}
	}
	return problems.Err()
}
