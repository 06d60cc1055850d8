package yamlerror

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// NullKeys returns the problems of a tree with keys that are null: written as
// null, Null, NULL or ~. No configuration has such a key, and
// readers drop it with its value.
func NullKeys(file string, root *yaml.Node) (problems diag.List) {
	for i, n := range root.Content {
		if root.Kind == yaml.MappingNode && i%2 == 0 && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
			problems.Add(diag.New(diag.Pos{File: file, Line: n.Line, Column: n.Column}, "a key that is null").
				WithHint("write it in quotes if it is a text"))
		}
		problems = append(problems, NullKeys(file, n)...)
	}
	return problems
}
