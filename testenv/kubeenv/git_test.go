package kubeenv

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git runs git as a user would, and returns what it says.
func git(dir string, args ...string) (string, error) {
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = gitEnvironment()
	out, err := command.CombinedOutput()

	return strings.TrimSpace(string(out)), err
}

// TestGit clones and pulls with the real git, in both versions of its
// protocol.
func TestGit(t *testing.T) {
	for _, protocol := range []string{"0", "2"} {
		t.Run("protocol "+protocol, func(t *testing.T) {
			g := NewGit(t)
			first := g.Commit(t, map[string]string{"folder/one": "1", "two": "2"})
			clone := filepath.Join(t.TempDir(), "clone")

			if out, err := git("/", "-c", "protocol.version="+protocol, "clone", "--depth=1", g.URL, clone); err != nil {
				t.Fatalf("clone: %v\n%s", err, out)
			}

			if got, err := git(clone, "rev-parse", "origin/main"); err != nil || got != first {
				t.Errorf("cloned %s (%v), want %s", got, err, first)
			}

			second := g.Commit(t, map[string]string{"folder/one": "changed", "two": ""})
			if second == first {
				t.Error("the second commit is the first")
			}

			if out, err := git(clone, "-c", "protocol.version="+protocol, "pull"); err != nil {
				t.Fatalf("pull: %v\n%s", err, out)
			}

			if got, err := os.ReadFile(filepath.Join(clone, "folder", "one")); err != nil || string(got) != "changed" {
				t.Errorf("pulled %q (%v)", got, err)
			}

			if _, err := os.Stat(filepath.Join(clone, "two")); !os.IsNotExist(err) {
				t.Errorf("the removed file is there: %v", err)
			}

			if out, err := git(clone, "push", "origin", "HEAD:other"); err == nil || !strings.Contains(out, "403") {
				t.Errorf("push: %v\n%s", err, out)
			}
		})
	}
}

// TestGitBody refuses a body that is not what its header says.
func TestGitBody(t *testing.T) {
	url := NewGit(t).URL + "/git-upload-pack"

	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader("plain"))
	if err != nil {
		t.Fatal(err)
	}

	request.Header.Set("Content-Encoding", "gzip")

	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()

	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("answer %s", answer.Status)
	}
}
