//go:build linux

package talosenv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// ByHand is a folder as people have it who configure Talos with talosctl: its secrets, and
// what `talosctl gen config` made of patches.
type ByHand struct {
	t        testing.TB
	cluster  *Cluster
	dir      string
	talosctl string
}

// NewByHand generates secrets, and configurations for a cluster of a name with patches for
// all nodes, each written as a file would be, besides what nodes of the test need.
func (c *Cluster) NewByHand(t testing.TB, name string, patches ...string) *ByHand {
	t.Helper()

	b := &ByHand{t: t, cluster: c, dir: t.TempDir(), talosctl: toolenv.Talosctl(t, c.bed.release)}
	b.run("gen", "secrets", "-o", "secrets.yaml")

	args := []string{
		"gen", "config", name, fmt.Sprintf("https://%s:6443", c.ControlPlanes[0].Address), "--with-secrets", "secrets.yaml",
		"--talos-version", talosVersions[c.bed.release], "--kubernetes-version", Kubernetes, "--install-disk", "/dev/sda", "-o", ".",
	}
	for i, text := range append([]string{c.Patch()}, patches...) {
		args = append(args, "--config-patch", "@"+b.Write(fmt.Sprintf("patch-%d.yaml", i), text))
	}

	if patch := c.ControlPlanePatch(); patch != "" {
		args = append(args, "--config-patch-control-plane", "@"+b.Write("control-plane.yaml", patch))
	}

	b.run(args...)

	return b
}

// Talosconfig is the file that leads an administrator to the nodes.
func (b *ByHand) Talosconfig() string { return filepath.Join(b.dir, "talosconfig") }

// Write writes a file of the folder, and returns its name.
func (b *ByHand) Write(name, text string) string {
	b.t.Helper()

	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}

	return name
}

// Configure hands each node its configuration, with a patch of its own, and makes etcd on
// the first control plane. It returns a client for the nodes.
func (b *ByHand) Configure(patch func(*Node) string) *Client {
	b.t.Helper()

	var first []byte

	for _, n := range b.cluster.Nodes() {
		from := "worker.yaml"
		if n == b.cluster.ControlPlanes[0] {
			from = "controlplane.yaml"
		}

		b.Write("own.yaml", patch(n))
		b.run("machineconfig", "patch", from, "--patch", "@own.yaml", "-o", n.Name+".yaml")

		if _, err := b.cluster.Insecure(b.t.Context(), b.t, n, "apply-config", "--file", filepath.Join(b.dir, n.Name+".yaml")); err != nil {
			b.t.Fatal(err)
		}

		if first == nil {
			var err error
			if first, err = os.ReadFile(filepath.Join(b.dir, n.Name+".yaml")); err != nil {
				b.t.Fatal(err)
			}
		}
	}

	return b.cluster.NewClient(b.t, first)
}

// run runs talosctl in the folder.
func (b *ByHand) run(args ...string) {
	b.t.Helper()

	var stderr bytes.Buffer

	command := exec.Command(b.talosctl, args...)
	command.Dir, command.Stderr = b.dir, &stderr
	command.Env = []string{"HOME=" + b.dir, "PATH=" + os.Getenv("PATH")}

	if err := command.Run(); err != nil {
		b.t.Fatalf("talosctl %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
}

// NewEmptyRepository is a repository without an environment: what `talosgen init` writes,
// but for that one.
func NewEmptyRepository(t testing.TB) *Repository {
	t.Helper()

	r := &Repository{t: t, root: filepath.Join(t.TempDir(), "repository"), program: toolenv.Talosgen(t), keyFile: filepath.Join(t.TempDir(), "key.txt")}
	r.talosgen("init", r.root, "--provider", "static", "--env", environment)

	for _, dir := range []string{"envs", "rendered", "patches"} {
		if err := os.RemoveAll(filepath.Join(r.root, dir)); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.Mkdir(filepath.Join(r.root, "envs"), 0o755); err != nil {
		t.Fatal(err)
	}

	return r
}
