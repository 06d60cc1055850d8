package node_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/talossim/simtest"
)

// TestInvalid finds what the newest Talos refuses, and quotes nothing of it.
func TestInvalid(t *testing.T) {
	cluster := simtest.NewCluster(t, "demo")
	good := cluster.ControlPlane("cp")
	for _, c := range []struct {
		name, config, platform, want string
	}{
		{"good", good, "hcloud", ""},
		{"a document that is gone", good + "---\napiVersion: v1alpha1\nkind: GoneConfig\npassword: topsecret\n", "hcloud", "GoneConfig"},
		{"a key that is gone", good + "---\napiVersion: v1alpha1\nkind: WatchdogTimerConfig\npassword: topsecret\n", "hcloud", "unknown keys"},
		{"no disk", strings.Replace(good, "{disk: /dev/sda}", "{wipe: true}", 1), "metal", "install disk"},
		{"a label without sense", cluster.ControlPlane("cp", "  nodeLabels: {\"no sense\": x}"), "hcloud", "invalid machine node labels"},
	} {
		got := node.Invalid(secret.New(c.config), c.platform)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "topsecret") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
