package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rotationPhases are what is rotated in the life of a cluster, one after the other, and in
// how many phases.
var rotationPhases = []struct {
	kind   string
	phases int
}{
	{"talos-ca", 3}, {"kubernetes-ca", 3}, {"encryption-key", 3}, {"age-key", 3}, {"machine-token", 1}, {"bootstrap-token", 1},
}

// TestRotationKilled rotates everything that a cluster has, phase by phase, with whole
// runs of apply, which are killed at random calls to Hetzner, to nodes and to Kubernetes.
// After each phase everything is as without. TestKilled of apply/internal/nodes kills at
// each call to nodes, TestAgeKeyKilled of apply/internal/kube at each to Kubernetes.
func TestRotationKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	kills := 0
	switch {
	case os.Getenv(nightlyVariable) != "":
		kills = 100
	case os.Getenv("TALOSGEN_TESTENV_FULL") != "":
		kills = 14 // as many as there are phases
	default:
		t.Skip("it takes a minute: of the full level")
	}
	t.Parallel()
	trees, chapters := rotated(t)
	killed(t, trees, chapters, kills, 1)
}

// rotated are the trees of a cluster whose secrets are rotated, and what is done with each.
func rotated(t *testing.T) (trees []files, chapters []chapter) {
	t.Helper()
	f, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := repositoriesOf(t, lifeTrees[:1])[0].writeMissing(dir); err != nil {
		t.Fatal(err)
	}
	next := func(name string, commands ...[]string) {
		for _, args := range append(commands, []string{"render", "dev"}) {
			if err := f.talosgen(dir, args...); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		inGit(t, dir, "add", "-A")
		inGit(t, dir, "commit", "-q", "--allow-empty", "-m", name)
		tree, err := readFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		for file := range tree {
			if strings.HasPrefix(file, ".git/") {
				delete(tree, file)
			}
		}
		chapters = append(chapters, chapter{name: name, tree: len(trees), commands: [][]string{lifeApply}})
		trees = append(trees, tree)
	}
	withDocuments(t, dir)
	inGit(t, dir, "init", "-q")
	next("from nothing")
	for _, r := range rotationPhases {
		for n := range r.phases {
			next(fmt.Sprintf("%s, phase %d", r.kind, n+1), []string{"rotate", "dev", r.kind})
		}
	}
	return trees, chapters
}

// withDocuments takes the contract of Talos 1.14, which has room for two keys of Secrets.
func withDocuments(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, "envs/dev/patches/nodes/dev-worker-1.yaml")); err != nil { // it is of before
		t.Fatal(err)
	}
	file := filepath.Join(dir, "envs/dev/cluster.env")
	lines := strings.Split(string(readFile(t, file)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "TALOS_VERSION=") {
			lines[i] = "TALOS_VERSION=v1.14.1"
		}
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// inGit runs git in a directory.
func inGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	command := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
}
