package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// threatModel says what is promised, and shows it by tests.
const threatModel = "docs/explanation/threat-model.md"

var shownBy = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)

// Every line of the threat model that promises something is shown by a test that
// exists; what is only stated says so.
func TestThreatModelIsShown(t *testing.T) {
	shown := 0
	for i, line := range strings.Split(readText(t, threatModel), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 2 || strings.Contains(line, "shown by") || strings.HasPrefix(line, "|-") {
			continue
		}
		claim, proof := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])
		tests := 0
		for _, found := range shownBy.FindAllStringSubmatch(proof, -1) {
			if isTest(t, found[1], path.Join(path.Dir(threatModel), found[2])) {
				tests++
			}
		}
		shown += tests
		if tests == 0 && !strings.HasPrefix(proof, "stated") {
			t.Errorf("%s:%d: nothing shows %q", threatModel, i+1, claim)
		}
	}
	if shown < 30 {
		t.Errorf("only %d tests are named: is the page read as it is written?", shown)
	}
}

// isTest reports whether a link leads to a test, and fails if the test that it
// names is not there.
func isTest(t *testing.T, name, file string) bool {
	t.Helper()
	switch {
	case strings.HasSuffix(file, "_test.go"):
		if !strings.Contains(readText(t, file), "\nfunc "+name+"(t *testing.T) {") {
			t.Errorf("%s has no %s", file, name)
		}
		return true
	case strings.HasSuffix(file, ".txtar"):
		if path.Dir(file) != "testdata/script" || strings.TrimSuffix(path.Base(file), ".txtar") != name {
			t.Errorf("%s is not the script %s", file, name)
		}
		readText(t, file)
		return true
	}
	return false
}

// readText reads a file of the repository.
func readText(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
