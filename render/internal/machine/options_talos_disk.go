package machine

import "github.com/talosgen/talosgen/internal/diag"

// EncryptionOptions say which of Talos' own partitions are encrypted.
type EncryptionOptions struct {
	State, Ephemeral Option // "true", or no value
	Key              Option // nodeID or tpm, as Talos writes them
}

// unqueued are options of dm-crypt: with them it works on the processor that
// asks, which is faster on the disks of today.
var unqueued = []string{"no_read_workqueue", "no_write_workqueue"}

func (b talosWriter) encryption(o EncryptionOptions) {
	for _, v := range []struct {
		on     Option
		volume string
	}{{o.State, "state"}, {o.Ephemeral, "ephemeral"}} {
		if v.on.Value != "" {
			b.luks(b.at("machine.systemDiskEncryption."+v.volume), v.on.Pos, o.Key)
		}
	}
}

// openVar takes away the options by which Talos mounts /var. Every contract of a Talos
// that mounts it so has the document.
func (b talosWriter) openVar(on Option) {
	if on.Value != "" {
		volume := b.named("VolumeConfig", Option{Value: "EPHEMERAL", Pos: on.Pos})
		b.put(volume, boolNode(false, on.Pos), "mount", "secure")
	}
}

func (b talosWriter) luks(p place, pos diag.Pos, key Option) {
	b.put(p, stringNode("luks2", pos), "provider")
	slot := mappingNode(pos)
	put(slot, "slot", intNode(0, pos))
	put(slot, key.Value, mappingNode(key.Pos))
	b.append(p, slot, "keys")
	for _, option := range unqueued {
		b.append(p, stringNode(option, pos), "options")
	}
}
