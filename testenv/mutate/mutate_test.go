package main

import (
	"bytes"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// TestMutations: there are enough of them, each has its place, once, changes
// something, is Go, and the package of its tests is there.
func TestMutations(t *testing.T) {
	const least = 30
	if len(mutations) < least {
		t.Errorf("%d mutations, want %d", len(mutations), least)
	}
	names := map[string]bool{}
	for _, m := range mutations {
		if names[m.name] {
			t.Errorf("%s: a second one", m.name)
		}
		names[m.name] = true
		text, err := m.apply(root)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		before, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil || bytes.Equal(before, text) {
			t.Errorf("%s: it changes nothing, %v", m.name, err)
		}
		if _, err := format.Source(text); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if tests, err := filepath.Glob(filepath.Join(root, m.pkg, "*_test.go")); err != nil || len(tests) == 0 {
			t.Errorf("%s: %s has no tests, %v", m.name, m.pkg, err)
		}
	}
}

// TestFound tries a package of its own: a bug that its test finds, one that it does
// not find, one that does not compile, and tests that fail anyway.
func TestFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.24\n",
		"a/a.go":      "package a\n\nfunc Sum(a, b int) int { return a + b }\n\nfunc Unused() int { return 1 }\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Error(\"sum\")\n\t}\n}\n\nfunc TestBroken(t *testing.T) { t.Error(\"broken\") }\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		m    mutation
		want string // begins the error
	}{
		{mutation{"", "a/a.go", "a + b", "a - b", "a", "^TestSum$"}, ""},
		{mutation{"", "a/a.go", "return 1", "return 2", "a", "^TestSum$"}, "NOT FOUND"},
		{mutation{"", "a/a.go", "a + b", "a +", "a", "^TestSum$"}, "exit status 1"},
		{mutation{"", "a/a.go", "a + b", "a - b", "a", "^TestBroken$"}, "the tests fail without it"},
		{mutation{"", "a/a.go", "a + b", "a - b", "a", "^TestNone$"}, "the tests fail without it: no test is named"},
		{mutation{"", "a/a.go", "a * b", "a - b", "a", "^TestSum$"}, "a/a.go has \"a * b\" 0 times"},
	} {
		err := test.m.found(t.Context(), dir, t.TempDir())
		got := ""
		if err != nil {
			got = err.Error()
		}
		if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.m.new, got, test.want)
		}
	}
}
