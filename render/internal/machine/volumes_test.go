package machine

import (
	"fmt"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/api/resource/definitions/block"
	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
)

// TestVolumeSelectors: the expression of each volume finds the disk of that volume alone,
// at any of the sizes that there are, and never a disk that Talos may be on.
func TestVolumeSelectors(t *testing.T) {
	const gib = 1 << 30
	sizes := []int{10, 11, 14, 15, 16, 50, 54, 1024, 10239, 10240}
	for _, size := range sizes {
		match := selectorOf(t, size)
		finds := func(d *block.DiskSpec, system bool) bool {
			found, err := match.EvalBool(celenv.DiskLocator(), map[string]any{"disk": d, "system_disk": system})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		for _, other := range sizes {
			if found := finds(&block.DiskSpec{Model: "Volume", Size: uint64(other) * gib}, false); found != (size == other) {
				t.Errorf("the volume of %d GB: a volume of %d GB is found: %v", size, other, found)
			}
			for _, model := range []string{"QEMU HARDDISK", "", "Volume 2", "volume"} {
				if finds(&block.DiskSpec{Model: model, Size: uint64(other) * gib}, false) {
					t.Errorf("the volume of %d GB: a disk %q of %d GB is found", size, model, other)
				}
			}
		}
		if finds(&block.DiskSpec{Model: "Volume", Size: uint64(size) * gib}, true) {
			t.Errorf("the volume of %d GB: the disk of Talos is found", size)
		}
	}
}

// selectorOf is the expression of a volume, from the document that is made of it.
func selectorOf(t *testing.T, size int) cel.Expression {
	t.Helper()
	o := NodeOptions{Volumes: []AttachedVolume{{Name: Option{Value: "data"}, Size: size}}}
	p, err := OptionsPatch("cluster.yaml", o, Worker, "v1.13")
	if err != nil {
		t.Fatal(err)
	}
	node := p.docs[0].node
	for _, key := range []string{"provisioning", "diskSelector", "match"} {
		if node = valueAt(node, key); node == nil {
			t.Fatal(fmt.Errorf("there is no %s", key))
		}
	}
	match, err := cel.ParseBooleanExpression(node.Value, celenv.DiskLocator())
	if err != nil {
		t.Fatal(err)
	}
	return match
}
