package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/versions"
)

// TestPlacesOfVersions keeps the list of places that a new version of Talos
// touches complete: every source file in which the default version stands.
func TestPlacesOfVersions(t *testing.T) {
	_, list, ok := strings.Cut(readText(t, "CONTRIBUTING.md"), "### A new version of Talos")
	list, _, _ = strings.Cut(list, "\n## ")
	if !ok {
		t.Fatal("CONTRIBUTING.md says nothing of a new version of Talos")
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|").FindAllStringSubmatch(list, -1) {
		for _, span := range codeSpan.FindAllString(m[1], -1) {
			place := strings.Trim(span, "`")
			named[place] = true
			if _, err := os.Stat(filepath.Join(repository, place)); err != nil {
				t.Errorf("CONTRIBUTING.md: %v", err)
			}
		}
	}
	found := sourcesWith(t, versions.Newest().Talos)
	for _, name := range found {
		if !named[name] {
			t.Errorf("%s has %s, and CONTRIBUTING.md does not name it", name, versions.Newest().Talos)
		}
	}
	if len(found) == 0 {
		t.Errorf("%s stands nowhere", versions.Newest().Talos)
	}
}

// sourcesWith are the source files, without tests, that have a text elsewhere than
// in comments.
func sourcesWith(t *testing.T, wanted string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(repository, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return cmp.Or(err, filepath.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if code, _, _ := strings.Cut(line, "// "); strings.Contains(code, wanted) {
				name, err := filepath.Rel(repository, path)
				names = append(names, filepath.ToSlash(name))
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
