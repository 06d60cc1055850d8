package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/talosgen/talosgen/internal/sopsage"
)

// generate writes a repository with one environment of n nodes, and its
// secrets. One that is there already is used again.
func generate(repo, version string, n int, binary string) error {
	return generateWith(repo, version, n, binary, "")
}

// generateWith is [generate] with more in cluster.yaml.
func generateWith(repo, version string, n int, binary, more string) error {
	if _, err := os.Stat(filepath.Join(repo, "envs/bench/keyring.yaml")); err == nil {
		return nil
	}
	files := map[string]string{"envs/bench/cluster.yaml": clusterYAML(version, n) + more}
	for i := 1; i <= 3; i++ {
		files[fmt.Sprintf("patches/common/%d.yaml", i)] = commonPatch(i)
		files[fmt.Sprintf("patches/controlplane/%d.yaml", i)] = rolePatch(i)
		files[fmt.Sprintf("patches/worker/%d.yaml", i)] = rolePatch(i)
	}
	for node := 1; node <= 3; node++ {
		nodePatches(files, fmt.Sprintf("bench-control-plane-%d", node), node)
	}
	for node := 1; node <= n-3; node++ {
		nodePatches(files, workerName(node), node)
	}
	for name, text := range files {
		file := filepath.Join(repo, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return secrets(repo, binary)
}

// poolSize is the number of workers in a pool.
const poolSize = 100

func workerName(i int) string {
	return fmt.Sprintf("bench-pool-%d-%d", (i-1)/poolSize+1, (i-1)%poolSize+1)
}

func clusterYAML(version string, n int) string {
	text := fmt.Sprintf(`clusterName: bench
endpoint: https://api.example.com:6443
talos:
  version: %s
  extensions: [siderolabs/qemu-guest-agent]
kubernetes:
  version: 1.36.0
hetzner:
  region: hel1
  firewall:
    apiSource: [203.0.113.0/24]
network:
  serverLimit: 2000
  cidr: 10.0.0.0/8
nodes:
  controlPlane:
    count: 3
    type: cpx22
  workers:
    nodepools:
`, version)
	for first := 0; first < n-3; first += poolSize {
		text += fmt.Sprintf(`      - name: pool-%d
        count: %d
        offset: %d
        placementGroup: false
        type: cpx22
        labels:
          example.com/pool: general
`, first/poolSize+1, min(poolSize, n-3-first), first)
	}
	return text
}

func commonPatch(i int) string {
	return []string{
		"machine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n    vm.max_map_count: \"262144\"\n",
		"apiVersion: v1alpha1\nkind: TimeSyncConfig\nntp:\n  servers:\n    - ntp1.example.com\n    - ntp2.example.com\n",
		"apiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: docker.io\nendpoints:\n  - url: https://mirror.example.com\n",
	}[i-1]
}

func rolePatch(i int) string {
	return []string{
		"machine:\n  kernel:\n    modules:\n      - name: nbd\n      - name: br_netfilter\n",
		"machine:\n  udev:\n    rules:\n      - SUBSYSTEM==\"drm\", KERNEL==\"renderD*\", GROUP=\"44\", MODE=\"0660\"\n",
		"machine:\n  logging:\n    destinations:\n      - endpoint: tcp://logs.example.com:5140\n        format: json_lines\n",
	}[i-1]
}

// nodePatches adds the three patches of a node.
func nodePatches(files map[string]string, name string, i int) {
	dir := "envs/bench/patches/nodes/" + name + "/"
	files[dir+"1.yaml"] = fmt.Sprintf("machine:\n  sysctls:\n    example.node: \"%d\"\n", i)
	files[dir+"2.yaml"] = fmt.Sprintf("machine:\n  certSANs:\n    - %s.example.com\n", name)
	files[dir+"3.yaml"] = fmt.Sprintf("apiVersion: v1alpha1\nkind: LinkConfig\nname: eth1\naddresses:\n  - address: 10.0.%d.%d/16\nmtu: 1450\n", i/250, i%250+1)
}

// secrets makes a key, and lets talosgen make the rest.
func secrets(repo, binary string) error {
	env, err := newKey(repo)
	if err != nil {
		return err
	}
	if err := run(repo, env, binary, "secrets", "init", "bench", "--repo", repo); err != nil {
		return err
	}
	return run(repo, env, binary, "secrets", "sync", "bench", "--repo", repo) // those that addons need
}

// newKey makes a key, and names it in .sops.yaml. It returns the environment of commands
// that use it.
func newKey(repo string) ([]string, error) {
	private, public, err := sopsage.GenerateIdentity(rand.Reader)
	if err != nil {
		return nil, err
	}
	key := filepath.Join(repo, "key.txt")
	if err := os.WriteFile(key, []byte(private.Reveal()+"\n"), 0o600); err != nil {
		return nil, err
	}
	config := "creation_rules:\n  - age: " + public + "\n"
	if err := os.WriteFile(filepath.Join(repo, ".sops.yaml"), []byte(config), 0o644); err != nil {
		return nil, err
	}
	return append(os.Environ(), "SOPS_AGE_KEY_FILE="+key, "HCLOUD_TOKEN="+strings.Repeat("0", 64)), nil
}

func run(dir string, env []string, binary string, args ...string) error {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("talosgen %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
