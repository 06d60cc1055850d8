package main

// What a Talos image has, as far as machined asks for it. Programs and
// configuration files are bound into it.

var folders = []string{
	"boot/EFI", "dev", "mnt", "opt", "proc", "root", "home", "run", "sys", "system", "tmp", "var", ".extra",
	"etc/cni", "etc/containerd", "etc/cri/conf.d/hosts", "etc/iscsi", "etc/kubernetes", "etc/lvm", "etc/nvme",
	"etc/selinux/targeted/contexts/files", "etc/ssl/certs",
	"usr/bin", "usr/etc", "usr/lib/modules", "usr/libexec/kubernetes", "usr/local/lib/kubelet/credentialproviders",
	"usr/local/share", "usr/share/spdx", "usr/share/zoneinfo/Etc",
}

// links are path and target.
var links = [][2]string{
	{"bin", "usr/bin"},
	{"sbin", "usr/bin"},
	{"lib", "usr/lib"},
	{"lib64", "usr/lib"},
	{"usr/sbin", "bin"},
	{"usr/lib64", "lib"},
	{"etc/localtime", "/usr/share/zoneinfo/Etc/UTC"},
	{"etc/ssl/certs/ca-certificates", "ca-certificates.crt"},
	{"etc/pki", "/etc/ssl"},
	{"etc/ca-certificates", "/etc/ssl"},
	{"usr/share/ca-certificates", "/etc/ssl"},
	{"usr/local/share/ca-certificates", "/etc/ssl"},
}

// files are empty; machined mounts its own over most of them.
var files = []string{
	"etc/extensions.yaml", "etc/hostname", "etc/machine-id", "etc/nfsmount.conf", "etc/resolv.conf",
	"etc/cri/conf.d/01-registries.part", "etc/cri/conf.d/20-customization.part",
	"etc/cri/conf.d/base-spec.json", "etc/cri/conf.d/cri.toml",
	"etc/iscsi/initiatorname.iscsi", "etc/nvme/hostid", "etc/nvme/hostnqn",
	"etc/selinux/targeted/contexts/files/file_contexts", "etc/ssl/certs/ca-certificates.crt",
}

// written may be written to: what Docker would have as tmpfs or as volumes.
var written = []string{
	"run", "system", "tmp", "var", "system/state", "etc/cni", "etc/kubernetes", "usr/libexec/kubernetes", "opt",
}

// devices of the host that nodes see.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// deviceLinks are path and target, in /dev.
var deviceLinks = [][2]string{
	{"ptmx", "pts/ptmx"},
	{"fd", "/proc/self/fd"},
	{"stdin", "/proc/self/fd/0"},
	{"stdout", "/proc/self/fd/1"},
	{"stderr", "/proc/self/fd/2"},
}
