package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/legacy"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// Below reports whether a place is a path, or lies under it. Quotes do not
// count: a shell takes them off.
func Below(name, path string) bool {
	name, path = plainPath(name), plainPath(path)
	rest, ok := strings.CutPrefix(name, path)
	return ok && (path == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// plainPath is a path without quotes, and without the name of the document that
// needs none.
func plainPath(path string) string {
	path = strings.TrimPrefix(path, machine.MainID.String()+".")
	return strings.TrimSuffix(strings.ReplaceAll(path, `"`, ""), ".")
}

// Near suggests places that resemble a path.
func Near(path string, names []string) string {
	if moved := movedTo(path, names); moved != "" {
		return moved
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	var near, as []string
	for _, n := range names {
		if strings.Contains(n, last) && len(near) < 5 {
			near = append(near, n)
		}
		as = append(as, firstKeys(n, strings.Count(path, ".")+1))
	}
	if len(near) > 0 {
		return "near it: " + strings.Join(near, ", ")
	}
	if s := diag.Suggest(path, as); s != "" {
		return s
	}
	return fmt.Sprintf("`talosgen explain <env> <node> --all` lists all %d", len(names))
}

// movedTo says in which documents of a configuration stands now what older Talos
// had at a path; nothing if none of them is there.
func movedTo(path string, names []string) string {
	var there []string
	for _, target := range legacy.MovedTo(plainPath(path)) {
		kind, _, _ := strings.Cut(target, ".")
		kind, _, _ = strings.Cut(kind, "/")
		switch {
		case slices.ContainsFunc(names, func(n string) bool { return Below(n, target) }):
			there = append(there, target)
		case slices.ContainsFunc(names, func(n string) bool { return Below(n, kind) || strings.HasPrefix(n, kind+"/") }):
			there = append(there, kind)
		}
	}
	if len(there) == 0 {
		return ""
	}
	return "Talos 1.14 moved it to " + strings.Join(there, ", ")
}

// firstKeys cuts a path off after n keys.
func firstKeys(path string, n int) string {
	for i, c := range path {
		if c == '.' {
			n--
		}
		if n == 0 {
			return path[:i]
		}
	}
	return path
}
