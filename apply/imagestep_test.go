package apply

import (
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

// Steps of a run have names of their own, short where they can be.
func TestImageStep(t *testing.T) {
	snapshot := func(arch, schematic string) schemas.InfraSnapshot {
		return schemas.InfraSnapshot{Architecture: arch, Selector: "talos_schematic_id=" + schematic, Labels: map[string]string{"talos_schematic_id": schematic}}
	}
	all := []schemas.InfraSnapshot{snapshot("x86", "0123456789"), snapshot("x86", "abcdef"), snapshot("arm", "0123456789")}
	for i, want := range []string{"image amd64 01234567", "image amd64 abcdef", "image arm64"} {
		if have := imageStep(all[i], all); have != want {
			t.Errorf("%q, want %q", have, want)
		}
	}
}
