// Package casetest is for tests: it runs those that are archives of files, the
// last of which is what is expected, and writes that again with -update.
package casetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what is expected again")

// Run runs a test for each archive that the pattern matches. What result makes
// of it must be the archive's last file, which has the name expected.
func Run(t *testing.T, pattern, expected string, result func(t *testing.T, archive *txtar.Archive) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(archive.Files); n == 0 || archive.Files[n-1].Name != expected {
				t.Fatalf("the last file is not %s", expected)
			}
			got, last := result(t, archive), &archive.Files[len(archive.Files)-1]
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(last.Data) {
				t.Errorf("got:\n%s\nwant:\n%s", got, last.Data)
			}
		})
	}
}
