package kubeenv

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Git is a repository with one branch, main, that is served on loopback while
// the test runs.
type Git struct {
	URL string // where to clone it from
	Dir string // its work tree
}

// NewGit makes an empty repository and serves it.
func NewGit(t testing.TB) *Git {
	t.Helper()

	g := &Git{Dir: t.TempDir()}
	g.run(t, "init", "--quiet", "--initial-branch=main")
	g.URL = ServeGit(t, g.Dir)

	return g
}

// Commit writes files, named with slashes from the root of the repository,
// and commits them. An empty text removes the file. It returns the commit.
func (g *Git) Commit(t testing.TB, files map[string]string) string {
	t.Helper()

	for name, text := range files {
		path := filepath.Join(g.Dir, filepath.FromSlash(name))

		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}

			continue
		}

		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	g.run(t, "add", "--all")
	g.run(t, "commit", "--quiet", "--allow-empty", "--message=change")

	return g.run(t, "rev-parse", "HEAD")
}

func (g *Git) run(t testing.TB, args ...string) string {
	t.Helper()

	command := exec.Command("git", append([]string{"-C", g.Dir}, args...)...)
	command.Env = gitEnvironment()

	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}

	return strings.TrimSpace(string(out))
}

// gitEnvironment keeps git to itself: no settings of the user, no hooks, and
// nothing of a git command that the tests may be part of.
func gitEnvironment(more ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=kubeenv", "GIT_AUTHOR_EMAIL=kubeenv@example.org",
		"GIT_COMMITTER_NAME=kubeenv", "GIT_COMMITTER_EMAIL=kubeenv@example.org",
	}

	return append(env, more...)
}

// ServeGit serves the repository in a folder on loopback while the test runs,
// for reading, and returns its URL. It needs git only, not git's CGI program.
func ServeGit(t testing.TB, dir string) string {
	t.Helper()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /repository.git/info/refs", func(w http.ResponseWriter, r *http.Request) {
		const service = "git-upload-pack"

		if r.URL.Query().Get("service") != service {
			http.Error(w, "only reading is served", http.StatusForbidden)
			return
		}

		w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
		io.WriteString(w, packetLine("# service="+service+"\n")+"0000")
		uploadPack(t, dir, w, r, "--advertise-refs")
	})
	mux.HandleFunc("POST /repository.git/git-upload-pack", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		uploadPack(t, dir, w, r)
	})

	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	return server.URL + "/repository.git"
}

// packetLine is a line of git's protocol: its length, then the text.
func packetLine(text string) string {
	const lengthOfLength = 4

	length := strconv.FormatInt(int64(len(text)+lengthOfLength), 16)

	return strings.Repeat("0", lengthOfLength-len(length)) + length + text
}

// uploadPack lets git answer one request.
func uploadPack(t testing.TB, dir string, w http.ResponseWriter, r *http.Request, args ...string) {
	body := io.Reader(r.Body)

	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}

		body = unpacked
	}

	w.Header().Set("Cache-Control", "no-cache")

	command := exec.CommandContext(r.Context(), "git", append(append([]string{"upload-pack", "--stateless-rpc"}, args...), dir)...)
	command.Env = gitEnvironment("GIT_PROTOCOL=" + r.Header.Get("Git-Protocol"))
	command.Stdin, command.Stdout = body, w

	var complaint strings.Builder

	command.Stderr = &complaint

	// A client that has what it wants hangs up.
	if err := command.Run(); err != nil && r.Context().Err() == nil {
		t.Logf("git upload-pack: %v: %s", err, &complaint)
	}
}
