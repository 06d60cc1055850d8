package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

const packageDir = "../.."

func TestGeneratedFilesAreCurrent(t *testing.T) {
	outputs, err := generate(packageDir)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range outputs {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./schemas", file)
		}
	}
	there, err := sectionFiles(packageDir)
	if err != nil || len(there) == 0 {
		t.Fatalf("%v: %v", there, err)
	}
	for _, file := range there {
		if outputs[file] == nil {
			t.Errorf("%s is of no section: run go generate ./schemas", file)
		}
	}
}

// TestSchemaReferencesResolve checks what editors choke on: a $ref to nothing,
// and a pattern that does not compile.
func TestSchemaReferencesResolve(t *testing.T) {
	var root dict
	if err := json.Unmarshal(schemas.ClusterSchema(), &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(dict)
	references := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case dict:
			if ref, ok := v["$ref"].(string); ok {
				references++
				if _, ok := defs[strings.TrimPrefix(ref, "#/$defs/")]; !ok {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			if pattern, ok := v["pattern"].(string); ok {
				if _, err := regexp.Compile(pattern); err != nil {
					t.Error(err)
				}
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(root)
	if references == 0 {
		t.Error("the schema has no references: the walk is broken")
	}
}

func TestModelRefusesWhatItCannotDescribe(t *testing.T) {
	for name, source := range map[string]string{
		"no comment":     "package x\ntype Cluster struct { A string `yaml:\"a\"` }",
		"no key":         "package x\ntype Cluster struct {\n// About a.\nA string }",
		"odd type":       "package x\ntype Cluster struct {\n// About a.\nA chan int `yaml:\"a\"` }",
		"unknown format": "package x\ntype Cluster struct {\n// About a.\nA string `yaml:\"a\" format:\"none\"` }",
		"unknown type":   "package x\ntype Cluster struct {\n// About a.\nA Other `yaml:\"a\"` }",
		"no range":       "package x\ntype Cluster struct {\n// About a.\nA int `yaml:\"a\"` }",
		"not a struct":   "package x\ntype Cluster int",
		"not Go":         "cluster: {}",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/cluster.go", []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := generate(dir); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestModelKnowsItsOptions(t *testing.T) {
	m, err := loadModel([]string{packageDir + "/cluster.go", packageDir + "/cluster_nodes.go"})
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[string]bool{
		"clusterName":                    true,
		"nodes.controlPlane.count":       true,
		"nodes.controlPlane.nodes.match": true,
		"nodes.workers":                  true,
		"nodes.controlPlane.cuont":       false,
		"clusterName.x":                  false,
		"Nodes":                          false,
		"":                               false,
	} {
		if got := m.has("Cluster", option); got != want {
			t.Errorf("%q: %v", option, got)
		}
	}
}
