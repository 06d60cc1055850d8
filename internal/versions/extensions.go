package versions

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// extensions are the official extensions of the releases of Talos that configurations
// can follow, without siderolabs/ (github.com/siderolabs/extensions, up to v1.14).
var extensions = []string{
	"amazon-ena", "amd-ucode", "amdgpu", "amdgpu-firmware", "binfmt-misc", "bird2", "bnx2-bnx2x", "btrfs",
	"chelsio-drivers", "chelsio-firmware", "cloudflared", "crun", "ctr", "drbd", "dvb-cx23885", "dvb-m88ds3103",
	"ecr-credential-provider", "fuse3", "gasket-driver", "glibc", "gpio-pinctrl", "gvisor", "gvisor-debug",
	"hailort", "harbor-credential-provider", "hello-world-service", "hyperv-guest-agent", "i915", "i915-ucode",
	"intel-ice-firmware", "intel-npu", "intel-ucode", "iscsi-tools", "joydev", "kata-containers",
	"kata-containers-snp", "lldpd", "mdadm", "mei", "mellanox-mstflint", "metal-agent", "multipath-tools",
	"nebula", "netbird", "newt", "nfs-utils", "nfsd", "nfsrahead", "nonfree-kmod-nvidia-lts",
	"nonfree-kmod-nvidia-production", "nut-client", "nvidia-container-toolkit-lts",
	"nvidia-container-toolkit-production", "nvidia-fabricmanager-lts", "nvidia-fabricmanager-production",
	"nvidia-gdrdrv-device", "nvidia-open-gpu-kernel-modules-lts", "nvidia-open-gpu-kernel-modules-production",
	"nvme-cli", "panfrost", "px-fuse", "qemu-guest-agent", "qlogic-firmware", "realtek-firmware",
	"revpi-firmware", "rockchip-rknn", "soci-snapshotter", "spin", "stargz-snapshotter", "tailscale",
	"tenstorrent", "thunderbolt", "trident-iscsi-tools", "uhid", "uinput", "usb-audio-drivers",
	"usb-modem-drivers", "util-linux-tools", "v4l-uvc-drivers", "vc4", "vmtoolsd-guest-agent", "wasmedge",
	"xdma-driver", "xe", "xen-guest-agent", "youki", "zerotier", "zfs",
}

// extensionOwner begins the names of official extensions.
const extensionOwner = "siderolabs/"

// meantWithin is one letter of so many that may be wrong in the name of an extension.
const meantWithin = 4

// MeantExtension is the official extension that somebody meant who wrote a name that is
// none; empty if the name is known, or near to none. A newer Talos may have more than
// are known, so a name that is near to none is right.
func MeantExtension(name string) string {
	short, official := strings.CutPrefix(name, extensionOwner)
	if !official || slices.Contains(extensions, short) {
		return ""
	}
	if meant := diag.NearestWithin(short, extensions, min(2, len(short)/meantWithin)); meant != "" {
		return extensionOwner + meant
	}
	return ""
}
