package image

import (
	"reflect"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

// The extensions of an image are those of its schematic, as the Image Factory names
// them without their vendor; of an id alone nothing is known.
func TestKnown(t *testing.T) {
	id, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	url := func(id string) string {
		return "https://factory.talos.dev/image/" + id + "/v1.14.1/hcloud-amd64.raw.xz"
	}
	got := Known([]schemas.InfraSnapshot{
		{URL: url(id), Schematic: "customization:\n  systemExtensions:\n    officialExtensions: [siderolabs/iscsi-tools, siderolabs/qemu-guest-agent]\n"},
		{URL: url(other)},
		{URL: "https://example.com/talos.raw.xz", Schematic: "customization: {}\n"},
		{URL: url(strings.Repeat("ef", 32)), Schematic: "customization: {}\n"},
	})
	want := map[string][]string{id: {"iscsi-tools", "qemu-guest-agent"}, strings.Repeat("ef", 32): {}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("extensions are %v", got)
	}
}
