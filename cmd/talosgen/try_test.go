package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// tryWithin is how much work a `try` of a shipped environment may be. A
// processor's time is counted, not the clock's: other tests run beside this one.
const tryWithin = 10 * time.Second

// TestTryShipped tries every shipped environment as a newcomer does on a fresh
// clone: with the rights of nobody, no key, no token, no agent, and no way to
// the outside. It makes everything, and leaves nothing.
func TestTryShipped(t *testing.T) {
	repo, err := exampleFiles()
	if err != nil {
		t.Fatal(err)
	}
	home := openDir(t)
	temp := filepath.Join(home, "tmp")
	if err := errors.Join(repo.writeMissing(home), os.Mkdir(temp, 0o777), os.Chmod(temp, 0o777)); err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string][]string{
		"dev":  {"acme-dev: 11 to create", "[11/11] create server/acme-dev-", "[4/4] bootstrap etcd", "cost of a month: 0.00 -> 20.97 EUR net"},
		"prod": {"acme-production-eu-central: 20 to create", "[20/20] create server/acme-production-eu-central-", "[8/8] bootstrap etcd", "cost of a month: 0.00 -> 116.31 EUR net"},
		"talos-k8s": {
			"talos-k8s: 16 to create", "create server/talos-k8s-worker-1-3", "bootstrap etcd", "create DaemonSet.apps/kube-system/cilium ",
			"cost of a month: 0.00 -> 44.94 EUR net",
		},
		"home": {"simulated: 4 machines", "[5/5] bootstrap etcd", "wait for sources"},
	} {
		t.Run(env, func(t *testing.T) {
			before, err := readFiles(home)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("unprivileged", "-C", home, "try", env)
			cmd.Env = []string{"HOME=" + home, "TMPDIR=" + temp, "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1"}
			shown, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, shown)
			}
			for _, text := range append(want, "no resources were created") {
				if !bytes.Contains(shown, []byte(text)) {
					t.Errorf("nothing is said of %q", text)
				}
			}
			if work := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); work > tryWithin {
				t.Errorf("it took %s of a processor", work)
			}
			if after, err := readFiles(home); err != nil || before.diff(after) != "" {
				t.Errorf("left behind: %v\n%s", err, before.diff(after))
			}
			if t.Failed() {
				t.Logf("%s", shown)
			}
		})
	}
}

// openDir is a directory that everybody may look into.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for up := dir; up != filepath.Clean(os.TempDir()) && up != filepath.Dir(up); up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTryInterrupted interrupts a try in the middle: it ends at once, and leaves
// nothing.
func TestTryInterrupted(t *testing.T) {
	b := newTerminal(t)
	before, err := readFiles(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	w, stdout, stderr := testApp()
	w.random, w.clock.sleep, w.clock.now = f.random, sleepFor, time.Now
	w.cwd = func() (string, error) { return b.dir, nil }
	w.vars = func(name string) (string, bool) { return string(f.operatorKey), name == "SOPS_AGE_KEY" }
	w.console.stderr = &whenSaid{text: "create network/dev", out: stderr, do: func() { interruptSelf(t) }}
	code := run([]string{"talosgen", "try", "dev"}, w)
	if shown := stderr.String(); code != int(diag.Interrupted) || strings.Contains(shown, "nodes: 4 steps") || stdout.Len() > 0 {
		t.Errorf("exit code %d\n%s", code, shown)
	}
	if after, err := readFiles(b.dir); err != nil || before.diff(after) != "" {
		t.Errorf("left behind: %v\n%s", err, before.diff(after))
	}
}

// whenSaid does something, once, when a text was written.
type whenSaid struct {
	text string
	out  *bytes.Buffer
	do   func()
	done bool
}

// Write writes, and looks.
func (s *whenSaid) Write(b []byte) (int, error) {
	n, err := s.out.Write(b)
	if !s.done && strings.Contains(string(b), s.text) {
		s.done = true
		s.do()
	}
	return n, err
}
