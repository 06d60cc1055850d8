package nodes_test

import (
	"testing"

	"github.com/talosgen/talosgen/internal/casetest"
)

// What the documentation shows of plans, the cases of this package print.
func TestDocsShowRealPlans(t *testing.T) {
	casetest.Shown(t, "../../../docs/explanation/nodes.md", "testdata/plans/*.txtar", "plan")
}
