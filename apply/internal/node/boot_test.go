package node_test

import (
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// TestBoot reads how machines were booted, and what room they have for systems.
func TestBoot(t *testing.T) {
	for _, c := range []struct {
		name string
		spec talossim.Spec
		safe bool
		size uint64
	}{
		{"GRUB", talossim.Spec{}, false, 1000 << 20},
		{"systemd-boot", talossim.Spec{Bootloader: talossim.SystemdBoot}, false, 2101 << 20},
		{"Secure Boot", talossim.Spec{Bootloader: talossim.SystemdBoot, SecureBoot: true}, true, 2101 << 20},
		{"an old one", talossim.Spec{BootSize: 300 << 20}, false, 300 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := simulate(t)
			c.spec.Name, c.spec.Public, c.spec.Installed = "w", []string{"192.0.2.1"}, true
			s.start(c.spec)
			bare := s.maintenance("w", "192.0.2.1")
			s.waitStage(bare, node.StageMaintenance)
			_, err := bare.Apply(t.Context(), secret.New(s.cluster.ControlPlane("w")), node.Auto)
			s.must(err)
			client := s.client("w", "192.0.2.1")
			s.waitStage(client, node.StageBooting)
			safe, err := client.SecureBoot(t.Context())
			s.must(err)
			size, err := client.BootSize(t.Context())
			s.must(err)
			if safe != c.safe || size != c.size {
				t.Errorf("Secure Boot %v, and room for %d; want %v and %d", safe, size, c.safe, c.size)
			}
		})
	}
}
