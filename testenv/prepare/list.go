package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/talosgen/talosgen/testenv/internal/cache"
)

// printList says of each tool which version it is, whether it is there, its
// size, and where it is or will be.
func printList(w io.Writer, c cache.Cache, modules []cache.Module) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)

	for _, m := range modules {
		dir, err := c.Dir(m)
		if err != nil {
			return err
		}

		goMod, err := os.ReadFile(filepath.Join(c.Source, filepath.FromSlash(m.Folder), "go.mod"))
		if err != nil {
			return err
		}

		for _, tool := range m.Tools {
			path := filepath.Join(dir, tool.Name)
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", tool.Name, version(goMod, tool.Package), state(path), path)
		}
	}

	return table.Flush()
}

// version is the version that a go.mod requires of the module that holds a
// package, which is the longest module path that the package starts with. A
// package of the go.mod's own module has none.
func version(goMod []byte, pkg string) string {
	module, found := "", "?"

	for line := range strings.Lines(string(goMod)) {
		if own, ok := strings.CutPrefix(line, "module "); ok && strings.HasPrefix(pkg+"/", strings.TrimSpace(own)+"/") {
			return "-"
		}

		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) < 2 || !strings.HasPrefix(fields[1], "v") {
			continue
		}

		if strings.HasPrefix(pkg+"/", fields[0]+"/") && len(fields[0]) > len(module) {
			module, found = fields[0], fields[1]
		}
	}

	return found
}

func state(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "missing"
	}

	if alias, err := os.Readlink(path); err == nil {
		return "is " + alias
	}

	return fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)
}
