package nodeplan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// What the documentation shows of plans, the cases of this package print.
func TestDocsShowRealPlans(t *testing.T) {
	page, err := os.ReadFile("../../docs/explanation/nodes.md")
	if err != nil {
		t.Fatal(err)
	}
	var plans strings.Builder
	files, _ := filepath.Glob("testdata/plans/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plans.Write(archive.Files[1].Data)
	}
	blocks := strings.Split(string(page), "```text\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("no plans are shown")
	}
	for _, b := range blocks {
		block, _, _ := strings.Cut(b, "```")
		if !strings.Contains(plans.String(), block) {
			t.Errorf("no plan looks like this:\n%s", block)
		}
	}
}
