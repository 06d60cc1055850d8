package layer

import (
	"slices"
	"strings"
)

// PatchesOf returns which of the [Inputs] of an environment are patches of one of
// these pools, or one of these nodes, and of nothing else.
func PatchesOf(inputs []string, env string, pools, nodes []string) (files []string) {
	for _, file := range inputs {
		rest, ok := strings.CutPrefix(file, InEnv(env, PatchesDir)+"/")
		if !ok {
			continue
		}
		kind, name, _ := strings.Cut(rest, "/")
		name, _, _ = strings.Cut(name, "/")
		of := map[string][]string{"pools": pools, "nodes": nodes}[kind]
		if slices.Contains(of, name) || slices.Contains(of, stem(name)) {
			files = append(files, file)
		}
	}
	return files
}
