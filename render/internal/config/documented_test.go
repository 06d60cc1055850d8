package config

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// Friction B8: what pages show of cluster.yaml is accepted, in a cluster that says
// nothing else of it.
func TestDocumentedOptions(t *testing.T) {
	shown := 0
	scope := &subst.Scope{Vars: subst.Vars{"ROBOT_USER": {Value: "robot"}, "ROBOT_PASSWORD": {Value: "secret", Secret: true}}}
	docs := filepath.Join("..", "..", "..", "docs")
	err := filepath.WalkDir(docs, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		page, err := os.ReadFile(name)
		for _, m := range yamlBlock.FindAllSubmatch(page, -1) {
			if !isOptions(m[1]) {
				continue
			}
			shown++
			whole := bytes.ReplaceAll(m[1], []byte("…"), []byte("mDMEZ0example")) // what a key has in its middle
			if _, err := Load(testFile, alone(string(beside(t, whole))), scope); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, m[1])
			}
		}
		return err
	})
	if err != nil || shown < 7 {
		t.Errorf("%d examples, %v", shown, err)
	}
}

// isOptions tells whether a text is a part of a cluster.yaml.
func isOptions(text []byte) bool {
	var part map[string]any
	if yaml.Unmarshal(text, &part) != nil || len(part) == 0 || strings.HasPrefix(string(text), "# ") {
		return false
	}
	var known []string
	for _, f := range fieldsOf(reflect.TypeFor[schemas.Cluster]()) {
		known = append(known, f.Tag.Get("yaml"))
	}
	for key := range part {
		if key == "apiVersion" || !slices.Contains(known, key) {
			return false
		}
	}
	return true
}

// beside adds options to the smallest file.
func beside(t *testing.T, options []byte) []byte {
	t.Helper()
	file, more := map[string]any{}, map[string]any{}
	if err := yaml.Unmarshal([]byte(minimal("")), &file); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(options, &more); err != nil {
		t.Fatal(err)
	}
	if more["provider"] == schemas.Static {
		delete(file, "hetzner")
	}
	for key, value := range more {
		section, both := file[key].(map[string]any)
		options, is := value.(map[string]any)
		if !both || !is {
			file[key] = value
			continue
		}
		for name, option := range options {
			section[name] = option
		}
	}
	text, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
