package node

import (
	"context"

	"google.golang.org/grpc/codes"
)

var (
	securityStates = kind{"runtime", "SecurityStates.talos.dev"}
	nodenames      = kind{"k8s", "Nodenames.kubernetes.talos.dev"}
)

// Nodename is the name that the node has in Kubernetes, from its hostname; empty: it has
// none yet.
func (c installCalls) Nodename(ctx context.Context) (string, error) {
	var s struct {
		Nodename string `yaml:"nodename"`
	}
	err := c.get(ctx, "read its name in Kubernetes", nodenames, "nodename", &s)
	if Code(err) == codes.NotFound {
		return "", nil
	}
	return s.Nodename, err
}

// SecureBoot reports whether the system that runs was booted with Secure Boot.
func (c installCalls) SecureBoot(ctx context.Context) (bool, error) {
	var s struct {
		SecureBoot bool `yaml:"secureBoot"`
	}
	err := c.get(ctx, "read how it was booted", securityStates, "securitystate", &s)
	return s.SecureBoot, err
}

// The labels of the partition that holds systems to boot: GRUB has one of its own,
// and systemd-boot takes them from that of the firmware.
const (
	bootPartition     = "BOOT"
	firmwarePartition = "EFI"
)

// BootSize is the size, in bytes, of the partition that holds the system that runs and
// the one that an installer writes beside it; 0 if there is none, as in a container.
// Talos does not tell how much of it is used.
func (c installCalls) BootSize(ctx context.Context) (uint64, error) {
	sizes := map[string]uint64{}
	err := c.list(ctx, "list its partitions", volumes, func(_ string, decode func(any) error) error {
		var v struct {
			Label string `yaml:"partition_label"`
			Size  uint64 `yaml:"size"`
		}
		err := decode(&v)
		sizes[v.Label] = v.Size
		return err
	})
	if size := sizes[bootPartition]; size > 0 {
		return size, err
	}
	return sizes[firmwarePartition], err
}
