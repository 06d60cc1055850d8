package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/plan/lineage"
)

func (r gitRepo) head() string {
	r.t.Helper()
	out, err := exec.Command("git", "-C", r.root, "rev-parse", "HEAD").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// commit writes a file of the tree, commits it and returns the commit.
func (r gitRepo) commit(text string) string {
	r.t.Helper()
	r.write("rendered/dev/nodes/a.yaml", text)
	r.git("add", "-A")
	r.git("commit", "-qm", text)
	return r.head()
}

func (r gitRepo) history() *apply.History {
	r.t.Helper()
	tree, err := readGitTree(r.t.Context(), r.root, "dev", []string{"nodes/a.yaml", "render.lock.yaml"})
	if err != nil {
		r.t.Fatal(err)
	}
	return gitHistory(tree)
}

// A tree is from a commit only if it is as in that commit.
func TestGitHistoryCommit(t *testing.T) {
	r := newGitRepo(t)
	step := func(what, want string) {
		t.Helper()
		if got := r.history().Commit; got != want {
			t.Errorf("%s: the commit %q, want %q", what, got, want)
		}
	}
	step("before the first commit", "")
	first := r.commit("1")
	step("committed", first)
	r.write("README", "")
	r.write("rendered/prod/render.lock.yaml", "other")
	step("others changed", first)
	r.write("rendered/dev/nodes/a.yaml", "2")
	step("changed", "")
	r.git("add", "-A")
	step("staged", "")

	r.root = t.TempDir()
	step("no repository", "")
}

// Git says which of two commits comes first, and what it does not know.
func TestGitHistoryRelation(t *testing.T) {
	r := newGitRepo(t)
	first, second := r.commit("1"), r.commit("2")
	r.git("checkout", "-q", "-b", "side", first)
	side := r.commit("3")
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "-s", "ours", "--no-edit", "side")
	merged := r.head()
	r.git("checkout", "-q", "--orphan", "other")
	orphan := r.commit("4")
	clone := gitRepo{t, t.TempDir()}
	clone.git("clone", "-q", "--depth=1", "--branch=main", "file://"+r.root, ".")

	for _, c := range []struct {
		what             string
		repo             gitRepo
		applied, present string
		want             lineage.Relation
	}{
		{"one before", r, first, second, lineage.Newer},
		{"one after", r, second, first, lineage.Older},
		{"another branch", r, second, side, lineage.Apart},
		{"merged", r, side, merged, lineage.Newer},
		{"from before the merge", r, merged, side, lineage.Older},
		{"nothing in common", r, merged, orphan, lineage.Apart},
		{"not known here", r, strings.Repeat("0", 40), second, lineage.Unknown},
		{"an option", r, "--help", second, lineage.Unknown},
		{"a name", r, "main", second, lineage.Unknown},
		{"abbreviated", r, second[:12], second, lineage.Unknown},
		{"beyond a shallow clone", clone, second, merged, lineage.Unknown},
	} {
		got, err := commitRelation(t.Context(), c.repo.root, c.applied, c.present)
		if err != nil || got != c.want {
			t.Errorf("%s: %d (%v), want %d", c.what, got, err, c.want)
		}
	}
	// Both ends are there, and what is between them is not.
	clone.git("fetch", "-q", "--depth=1", "origin", second)
	if got, err := commitRelation(t.Context(), clone.root, second, merged); err != nil || got != lineage.Unknown {
		t.Errorf("a history with a gap: %d (%v)", got, err)
	}
	// A tree object is no commit.
	if got, err := commitRelation(t.Context(), r.root, treeOf(t, r), second); err != nil || got != lineage.Unknown {
		t.Errorf("a tree: %d (%v)", got, err)
	}
}

func treeOf(t *testing.T, r gitRepo) string {
	out, err := exec.Command("git", "-C", r.root, "rev-parse", "HEAD^{tree}").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
