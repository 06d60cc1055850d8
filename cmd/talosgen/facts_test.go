package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// TestApplyKeepsFacts: addresses that Hetzner chose come to the sources of the
// environment, the next render takes them into the certificates, living servers
// stay as they are, and destroy takes the addresses away again. Those of a
// simulated project are not kept.
func TestApplyKeepsFacts(t *testing.T) {
	b := newTerminal(t)
	file := filepath.Join(b.dir, "envs", "dev", "facts.yaml")
	// Without a name, people reach the API by the address of its load balancer.
	edit(t, filepath.Join(b.dir, "envs", "dev", "cluster.yaml"), "endpoint: https://${API_HOST}:6443\n", "")
	edit(t, filepath.Join(b.dir, "envs", "dev", "cluster.yaml"), "hetzner:\n", "hetzner:\n  apiLoadBalancer: {enabled: true, publicNetwork: true}\n")
	must := func(args ...string) string {
		t.Helper()
		code, shown := b.run("", args...)
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s", args, code, shown)
		}
		return shown
	}
	must("render", "dev")
	must("apply", "dev", "--allow-dirty", "--yes")
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("what the simulator chose was kept: %v", err)
	}

	b.endpoint = "https://api.example.com/v1"
	shown := must("apply", "dev", "--allow-dirty", "--stage", "infrastructure")
	if !strings.Contains(shown, "wrote envs/dev/facts.yaml: commit it, and render dev") {
		t.Errorf("it says\n%s", shown)
	}
	text, err := os.ReadFile(file)
	want := regexp.MustCompile("^# .*\napiVersion: talosgen.dev/v1alpha1\naddresses:\n  - kind: loadBalancer\n    name: dev-kube-api\n    ipv4: ([0-9.]+)\n    ipv6: [0-9a-f:]+\n$")
	found := want.FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("%v, facts:\n%s", err, text)
	}
	shown = must("apply", "dev", "--allow-dirty", "--stage", "infrastructure")
	if strings.Contains(shown, "wrote") || !strings.Contains(shown, "envs/dev/facts.yaml has changed since the last render") {
		t.Errorf("again it says\n%s", shown)
	}

	must("render", "dev")
	node, err := os.ReadFile(filepath.Join(b.dir, "rendered", "dev", "nodes", "dev-control-plane-1.yaml"))
	if err != nil || !strings.Contains(string(node), "- "+string(found[1])+"\n") {
		t.Errorf("%s is in no certificate, %v", found[1], err)
	}
	must("plan", "dev", "--allow-dirty", "--stage", "infrastructure")

	if shown := must("destroy", "dev", "--allow-dirty", "--yes-destroy", "dev"); !strings.Contains(shown, "removed envs/dev/facts.yaml: commit that") {
		t.Errorf("destroy says\n%s", shown)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the addresses of what is gone are still there: %v", err)
	}
}

// edit replaces a text in a file, once.
func edit(t *testing.T, file, old, by string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, by, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReportNotHeard: that nobody reads the report loses neither what a run has
// learned nor why it failed.
func TestReportNotHeard(t *testing.T) {
	b := newTerminal(t)
	edit(t, filepath.Join(b.dir, "envs", "dev", "cluster.yaml"), "endpoint: https://${API_HOST}:6443\n", "")
	edit(t, filepath.Join(b.dir, "envs", "dev", "cluster.yaml"), "hetzner:\n", "hetzner:\n  apiLoadBalancer: {enabled: true, publicNetwork: true}\n")
	if code, shown := b.run("", "render", "dev"); code != 0 {
		t.Fatal(shown)
	}
	b.endpoint, b.deaf = "https://api.example.com/v1", true
	apply := []string{"apply", "dev", "--allow-dirty", "--yes", "--stage", "infrastructure", "-o", "json"}
	b.sim.Inject(hetznersim.Fault{Method: http.MethodPost, Path: "/servers", Times: -1, As: hetznersim.Status(403, "resource_limit_exceeded", "limit")})
	if code, shown := b.run("", apply...); code != int(diag.Remote) || !strings.Contains(shown, "error: server dev-") {
		t.Errorf("exit code %d\n%s", code, shown)
	}
	b.sim.ClearFaults()
	code, shown := b.run("", apply...)
	if _, err := os.Stat(filepath.Join(b.dir, "envs", "dev", "facts.yaml")); err != nil || code == 0 || !strings.Contains(shown, "closed pipe") {
		t.Errorf("exit code %d, %v\n%s", code, err, shown)
	}
}
