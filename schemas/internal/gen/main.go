// Command gen writes what is generated from the types of package schemas: the
// JSON Schema of cluster.yaml and the reference page. It runs in the directory
// of that package, through go generate.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	outputs, err := generate(".")
	for file, data := range outputs {
		if err == nil {
			err = os.WriteFile(file, data, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate returns the generated files by their paths, for the package in dir.
func generate(dir string) (map[string][]byte, error) {
	files, err := filepath.Glob(filepath.Join(dir, "cluster*.go"))
	if err != nil {
		return nil, err
	}
	m, err := loadModel(files)
	if err != nil {
		return nil, err
	}
	schema, err := jsonSchema(m, "Cluster")
	if err != nil {
		return nil, err
	}
	page, err := reference(m, "Cluster")
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		filepath.Join(dir, "cluster.schema.json"):             schema,
		filepath.Join(dir, "..", "docs/reference/cluster.md"): page,
	}, nil
}
