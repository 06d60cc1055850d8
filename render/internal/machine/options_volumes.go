package machine

import (
	"fmt"

	"github.com/talosgen/talosgen/internal/diag"
)

// AttachedVolume is a volume of Hetzner Cloud that is attached to a node.
type AttachedVolume struct {
	Name    Option
	Size    int // in GB, which Hetzner counts as GiB
	SizePos diag.Pos
}

// volumeModel is what Hetzner's volumes are for SCSI. Disks of servers, which Talos is
// installed on, have another one.
const volumeModel = "Volume"

// volumes describes the volumes of the node as user volumes, each of which takes all of
// its disk. The expression finds the disk that has none yet; from then on Talos knows it
// by the label of the partition, wherever it is attached.
func (b diskWriter) volumes() {
	for _, v := range b.options.Volumes {
		p, at := b.named("UserVolumeConfig", v.Name), v.SizePos
		match := fmt.Sprintf("disk.model == %q && disk.size >= %du * GiB && disk.size < %du * GiB && !system_disk", volumeModel, v.Size, v.Size+1)
		b.put(p, stringNode(match, at), "provisioning", "diskSelector", "match")
		b.put(p, boolNode(true, at), "provisioning", "grow")
		b.put(p, stringNode(leastVolume, at), "provisioning", "minSize")
	}
}

// leastVolume is less than any volume, whose partition is as large as the disk.
const leastVolume = "1GiB"
