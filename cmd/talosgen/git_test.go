package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply"
)

// gitRepo is a repository of git with a rendered tree, which is pushed.
type gitRepo struct {
	t    *testing.T
	root string
}

func newGitRepo(t *testing.T) gitRepo {
	t.Helper()
	r := gitRepo{t, t.TempDir()}
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	r.git("init", "-q", "-b", "main")
	r.write("rendered/dev/nodes/a.yaml", "a")
	r.write("rendered/dev/render.lock.yaml", "lock")
	r.write("rendered/prod/render.lock.yaml", "lock")
	return r
}

func (r gitRepo) git(args ...string) {
	r.t.Helper()
	inGit(r.t, r.root, args...)
}

func (r gitRepo) write(name, text string) {
	r.t.Helper()
	if err := writeFile(filepath.Join(r.root, name), []byte(text)); err != nil {
		r.t.Fatal(err)
	}
}

// push pushes what is committed to a new repository.
func (r gitRepo) push() {
	r.t.Helper()
	remote := r.t.TempDir()
	r.git("init", "-q", "--bare", remote)
	r.git("remote", "add", "origin", remote)
	r.git("push", "-q", "-u", "origin", "main")
}

// sourceIn is where the tree of an environment comes from.
func sourceIn(t *testing.T, root, env string, files []string, follows string) (apply.Source, error) {
	t.Helper()
	tree, err := readGitTree(t.Context(), root, env, files)
	if err != nil {
		return apply.Source{}, notAsked(err)
	}
	return gitSource(t.Context(), tree, follows)
}

// TestGitSource takes a repository through what can be the matter with it.
func TestGitSource(t *testing.T) {
	r := newGitRepo(t)
	step := func(what string, want apply.Source) {
		t.Helper()
		got, err := sourceIn(t, r.root, "dev", []string{"nodes/a.yaml", "render.lock.yaml"}, "")
		if got.Commit != "" {
			got.Commit = "c"
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v (%v)\nwant %+v", what, got, err, want)
		}
	}
	both := []string{"rendered/dev/nodes/a.yaml", "rendered/dev/render.lock.yaml"}
	step("no commit", apply.Source{Repository: true, Changed: both})
	r.write("README", "")
	r.git("add", "README")
	r.git("commit", "-qm", "first")
	step("not in the commit", apply.Source{Repository: true, Commit: "c", Changed: both, Branch: "main"})
	r.git("add", "-A")
	step("staged only", apply.Source{Repository: true, Commit: "c", Changed: both, Branch: "main"})
	r.git("commit", "-qm", "second")
	step("no upstream", apply.Source{Repository: true, Commit: "c", Branch: "main"})
	r.push()
	pushed := apply.Source{Repository: true, Commit: "c", Branch: "main", Upstream: "origin/main", Place: "rendered/dev", Pushed: true}
	step("pushed", pushed)

	r.write("rendered/dev/NOTES", "of somebody else")
	r.write("rendered/prod/render.lock.yaml", "of another environment")
	step("other files changed", pushed)
	r.git("commit", "-qam", "prod")
	step("a commit that is not pushed, but the tree is", pushed)

	r.write("rendered/dev/nodes/a.yaml", "b")
	changed := pushed
	changed.Changed = both[:1]
	step("changed", changed)
	r.git("commit", "-qam", "dev")
	ahead := pushed
	ahead.Pushed = false
	step("ahead", ahead)
	r.git("push", "-q")
	step("pushed again", pushed)

	r.git("checkout", "-q", "--detach")
	detached := pushed
	detached.Branch = ""
	step("as CI checks out", detached)
	r.git("checkout", "-q", "main")

	if err := os.Remove(filepath.Join(r.root, "rendered/dev/nodes/a.yaml")); err != nil {
		t.Fatal(err)
	}
	step("gone", changed)
	r.git("checkout", "-q", "--", ".")
	r.git("mv", "rendered/dev/nodes/a.yaml", "rendered/dev/nodes/moved.yaml")
	step("moved", changed)
}

// TestGitSourceInFolder: where the tree is in Git is told from the root of that.
func TestGitSourceInFolder(t *testing.T) {
	r := newGitRepo(t)
	r.write("infra/clusters/rendered/dev/nodes/a.yaml", "a")
	r.git("add", "-A")
	r.git("commit", "-qm", "first")
	r.push()
	s, err := sourceIn(t, filepath.Join(r.root, "infra/clusters"), "dev", []string{"nodes/a.yaml"}, "main")
	if err != nil || s.Place != "infra/clusters/rendered/dev" || !s.Pushed {
		t.Errorf("%+v (%v)", s, err)
	}
	for path, want := range map[string]bool{"infra/clusters/rendered/dev": true, "rendered/dev": false} {
		s.FollowedPath = path
		if err := s.Check("dev"); (err == nil) != want {
			t.Errorf("followed at %s: %v", path, err)
		}
	}
}

// What Flux follows counts, not what is checked out.
func TestGitSourceFollows(t *testing.T) {
	r := newGitRepo(t)
	r.git("add", "-A")
	r.git("commit", "-qm", "first")
	r.push()
	step := func(what string, pushed bool) {
		t.Helper()
		s, err := sourceIn(t, r.root, "dev", []string{"nodes/a.yaml"}, "production")
		if err != nil || s.Upstream != "origin/production" || s.Pushed != pushed || s.Branch != "main" {
			t.Errorf("%s: %+v (%v)", what, s, err)
		}
		if err := s.Check("dev"); (err == nil) != pushed || err != nil && !strings.Contains(err.Error(), "Flux follows the branch production") {
			t.Errorf("%s: %v", what, err)
		}
	}
	step("no such branch", false)
	r.git("push", "-q", "origin", "main:production")
	step("there", true)
	r.write("rendered/dev/nodes/a.yaml", "b")
	r.git("commit", "-qam", "second")
	r.git("push", "-q", "origin", "main")
	step("on main only", false)
	r.git("push", "-q", "origin", "main:production")
	step("merged", true)
}

// TestGitSourceIgnored finds a tree that git is told to ignore.
func TestGitSourceIgnored(t *testing.T) {
	r := newGitRepo(t)
	r.write(".gitignore", "rendered/\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "all")
	r.push()
	s, err := sourceIn(t, r.root, "dev", []string{"nodes/a.yaml"}, "")
	if err != nil || len(s.Changed) != 1 || s.Check("dev") == nil {
		t.Errorf("%+v (%v)", s, err)
	}
}

func TestGitSourceWithoutGit(t *testing.T) {
	dir := t.TempDir()
	if s, err := sourceIn(t, dir, "dev", nil, ""); err != nil || s.Repository {
		t.Errorf("outside of a repository: %+v (%v)", s, err)
	}
	if err := writeFile(filepath.Join(dir, ".git"), []byte("gitdir: /nowhere\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := sourceIn(t, dir, "dev", nil, ""); err == nil {
		t.Error("a broken repository counts as none")
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := sourceIn(t, t.TempDir(), "dev", nil, ""); err == nil || !strings.Contains(err.Error(), "--allow-dirty") {
		t.Errorf("without git: %v", err)
	}
}

// TestGitProcesses: each of them costs as much as the work that it does, so no question
// is asked twice.
func TestGitProcesses(t *testing.T) {
	r := newGitRepo(t)
	r.git("add", "-A")
	r.git("commit", "-qm", "all")
	r.push()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin, asked := t.TempDir(), filepath.Join(t.TempDir(), "asked")
	wrapper := "#!/bin/sh\necho \"$3\" >> " + asked + "\nexec " + git + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if s, err := sourceIn(t, r.root, "dev", []string{"nodes/a.yaml"}, ""); err != nil || !s.Pushed {
		t.Fatalf("%+v (%v)", s, err)
	}
	const want = "rev-parse\nrev-parse\nls-files\ndiff\nsymbolic-ref\nfor-each-ref\nrev-parse\nrev-parse\n"
	if got := string(readFile(t, asked)); got != want {
		t.Errorf("git was asked\n%swant\n%s", got, want)
	}
}
