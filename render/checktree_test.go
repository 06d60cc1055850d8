package render_test

import (
	"testing"

	"github.com/talosgen/talosgen/render/check"
)

// Nothing is wrong with what this repository ships, and its objects have one
// owner each.
func TestShippedTreesPassTheCheck(t *testing.T) {
	repo := open(t, shipped, nil)
	envs, err := repo.Environments()
	if err != nil || len(envs) == 0 {
		t.Fatal(envs, err)
	}
	for _, env := range envs {
		report, err := check.Tree(repo, env, check.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := report.Problems.Err(); err != nil || len(report.Conflicts) > 0 {
			t.Errorf("%s: %v\n%s", env, err, check.ConflictsText(report.Conflicts))
		}
		if report.Objects < 10 || len(report.Claims) < report.Objects {
			t.Errorf("%s: only %d objects and %d claims: it did not look everywhere", env, report.Objects, len(report.Claims))
		}
	}
}
