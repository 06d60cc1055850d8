//go:build linux

package acceptance

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/testenv/cloudenv"
	"github.com/talosgen/talosgen/testenv/talosenv"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// canary keeps what programs print and write, what stands in the list of processes,
// and what is sent to Hetzner, and looks for secrets in all of that.
type canary struct {
	project   *cloudenv.Project
	home, tmp string // of the programs
	root      string // of the repository
	known     secrets

	mu        sync.Mutex
	outputs   []string
	processes map[string]bool // command lines
}

// newCanary begins to look at the list of processes, until the test ends.
func newCanary(t *testing.T, p *cloudenv.Project) *canary {
	t.Helper()
	c := &canary{project: p, home: t.TempDir(), tmp: t.TempDir(), known: secrets{}, processes: map[string]bool{}}
	var sampling sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	sampling.Go(func() { c.sample(ctx) })
	t.Cleanup(func() { stop(); sampling.Wait() })
	return c
}

// environ makes programs write where the canary looks.
func (c *canary) environ() []string {
	return []string{"HOME=" + c.home, "TMPDIR=" + c.tmp, "XDG_CACHE_HOME=" + filepath.Join(c.home, "cache")}
}

func (c *canary) output(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outputs = append(c.outputs, text)
}

// sample notes the arguments of all processes, a few times a second. A process is
// looked at more than once, as it may become another program.
func (c *canary) sample(ctx context.Context) {
	const every, looks = 300 * time.Millisecond, 4
	seen := map[string]int{}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		names, _ := filepath.Glob("/proc/[0-9]*")
		now := map[string]int{}
		for _, name := range names {
			if now[name] = seen[name] + 1; now[name] > looks {
				continue
			}
			line, err := os.ReadFile(filepath.Join(name, "cmdline"))
			if err == nil && len(line) > 0 { // else it has ended, or is the kernel's
				c.mu.Lock()
				c.processes[string(line)] = true
				c.mu.Unlock()
			}
		}
		seen = now
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// learn reads all secrets of a repository, with the real sops.
func (c *canary) learn(t *testing.T, r *talosenv.Repository) {
	t.Helper()
	c.root = r.Root()
	key, err := os.ReadFile(r.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(key)) {
		if strings.HasPrefix(line, "AGE-SECRET-KEY-") {
			c.known.add("the operator's key", strings.TrimSpace(line))
		}
	}
	c.known.add("the token", c.project.Sim.Token())
	command := exec.Command(toolenv.Sops(t), "decrypt", filepath.Join(c.root, "envs/lab/secrets.sops.yaml"))
	command.Env = append(os.Environ(), r.Environ()...)
	text, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	c.known.walk("", tree)
	const least = 10 // a bundle has more: it must not be that nothing was read
	if len(c.known) < least {
		t.Fatalf("only %d secrets are known", len(c.known))
	}
}

// search looks for the secrets. Only one belongs where it is found: the host key of
// the gateway, which Hetzner hands over.
func (c *canary) search(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, output := range c.outputs {
		c.in(t, "what is printed", output)
	}
	for line := range c.processes {
		c.in(t, "the list of processes", line)
	}
	bodies := c.project.Bodies()
	for _, body := range bodies {
		c.in(t, "a call of Hetzner's API", body, ".sshHostKey")
	}
	files := 0
	for _, dir := range []string{c.home, c.tmp, c.root} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			files++
			c.in(t, path, string(text))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d secrets are in none of %d outputs, %d command lines, %d calls, %d files",
		len(c.known), len(c.outputs), len(c.processes), len(bodies), files)
}

// in reports secrets in a text, without telling them. Some may belong there.
func (c *canary) in(t *testing.T, where, text string, belong ...string) {
	t.Helper()
	for _, from := range c.known.in(text) {
		if !slices.Contains(belong, from) {
			t.Errorf("%s has a secret: %s", where, from)
		}
	}
}
