// Command gen writes what is generated from the types of package schemas: the
// JSON Schema of cluster.yaml and the pages of its reference. It runs in the directory
// of that package, through go generate.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	outputs, err := generate(".")
	if err == nil {
		err = write(outputs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write writes the generated files, and removes pages of sections that are gone.
func write(outputs map[string][]byte) error {
	old, err := sectionFiles(".")
	if err != nil {
		return err
	}
	for _, file := range old {
		if outputs[file] == nil {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	for file, data := range outputs {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// referenceDir is the folder of the reference, for the package in dir.
func referenceDir(dir string) string { return filepath.Join(dir, "..", "docs", "reference") }

// sectionFiles are the pages of sections that are there.
func sectionFiles(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(referenceDir(dir), "cluster", "*"))
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
	reference, err := pages(m, "Cluster")
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(schema); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "cluster.schema.json")
	outputs := map[string][]byte{file: schema, file + ".gz": packed.Bytes()}
	for file, data := range reference {
		outputs[filepath.Join(referenceDir(dir), filepath.FromSlash(file))] = data
	}
	return outputs, nil
}
