package kubeenv

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/internal/cache"
	"github.com/talosgen/talosgen/testenv/internal/child"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// TestTwoCheckouts runs tests in two checkouts at once, which share the cache
// as two on one machine do. Each has its own cluster, and keeps it when the
// other one is done.
func TestTwoCheckouts(t *testing.T) {
	toolenv.Folder(t, "kube")
	t.Parallel()

	one, two := startCheckout(t, "one"), startCheckout(t, "two")

	// Both have made their object before either looks at it.
	urls := []string{one.line(t), two.line(t)}
	if urls[0] == urls[1] {
		t.Errorf("both have %s", urls[0])
	}

	for _, c := range []*checkout{one, two} {
		c.proceed(t)

		if got, want := c.line(t), "data "+c.name; got != want {
			t.Errorf("checkout %s says %q, want %q", c.name, got, want)
		}

		if err := c.command.Wait(); err != nil {
			t.Errorf("checkout %s: %v", c.name, err)
		}

		if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
			t.Errorf("checkout %s has left %s: %v", c.name, c.dir, err)
		}
	}
}

// checkout is a process that runs TestInCheckout.
type checkout struct {
	name    string
	dir     string // of its cluster
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
}

const checkoutVariable = "KUBEENV_TEST_CHECKOUT"

// TestInCheckout is what a checkout of TestTwoCheckouts runs.
func TestInCheckout(t *testing.T) {
	name := os.Getenv(checkoutVariable)
	if name == "" {
		t.Skip("run by TestTwoCheckouts")
	}

	c := Start(t, Own(), WithoutControllerManager())
	object := "{apiVersion: v1, kind: ConfigMap, metadata: {name: whose}, data: {checkout: " + name + "}}"
	c.Apply(t, name, false, object)

	say := func(line string) {
		if _, err := io.WriteString(os.Stdout, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}

	say(c.instance.dir)
	say(c.URL)

	// Until the other one is that far, or is done.
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Fatal(err)
	}

	say("data " + c.Get(t, c.Path(t, object)).Text("data", "checkout"))
}

// startCheckout copies what makes a checkout for the test bed, and runs this
// program's TestInCheckout there.
func startCheckout(t *testing.T, name string) *checkout {
	t.Helper()

	ours, err := cache.Open()
	if err != nil {
		t.Fatal(err)
	}

	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "testenv", "kube"), os.DirFS(filepath.Join(ours.Source, "kube"))); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module github.com/talosgen/talosgen\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	c := &checkout{name: name, command: exec.Command(os.Args[0], "-test.run=^TestInCheckout$")}
	c.command.Dir = root
	c.command.Env = append(os.Environ(), checkoutVariable+"="+name, toolenv.Require+"=1")
	c.command.Stderr = os.Stderr

	if c.stdin, err = c.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}

	stdout, err := c.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	c.stdout = bufio.NewReader(stdout)

	if err := child.Start(c.command); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = c.command.Process.Kill() }) // it has ended, or the test failed

	return c
}

// line is the next line that the process says.
func (c *checkout) line(t *testing.T) string {
	t.Helper()

	line, err := c.stdout.ReadString('\n')
	if err != nil {
		rest, _ := io.ReadAll(c.stdout)
		t.Fatalf("checkout %s says %q (%v) %s", c.name, line, err, rest)
	}

	line = strings.TrimSpace(line)
	if c.dir == "" {
		c.dir = line
		return c.line(t)
	}

	return line
}

// proceed lets the process end.
func (c *checkout) proceed(t *testing.T) {
	t.Helper()

	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}
}
