//go:build linux

package talosenv

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/talosgen/talosgen/testenv/internal/cache"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// Full is the variable that asks for the tests with nodes.
const Full = "TALOSGEN_TESTENV_FULL"

// Nightly is the variable that asks for those that need more time, or programs that
// only they need.
const Nightly = "TALOSGEN_TESTENV_NIGHTLY"

// bed is where the programs of nodes are.
type bed struct {
	release                    string // of Talos
	node, machined, containerd string // folders
	discovery, etcd            string // programs
	runc                       string // of the host
	libraries                  []string

	// Folders; only with Kubernetes.
	controlPlane, nodeComponents string
	next                         string // of the next minor; only to upgrade to it

	// Only to swap: the folder of each machined, by its release, and the etcd that the
	// later one brings.
	releases map[string]string
	nextEtcd string
}

// findBed finds the programs, or skips the test.
func findBed(t testing.TB, o Options) bed {
	t.Helper()

	if os.Getenv(Full) != "1" {
		t.Skipf("slow: %s=1 runs it", Full)
	}

	if (o.Upgrade || o.Swap) && os.Getenv(Nightly) != "1" {
		t.Skipf("of the nightly level: %s=1 runs it", Nightly)
	}

	release := cmp.Or(o.Talos, "1.13")

	b := bed{
		release:    release,
		node:       toolenv.Folder(t, "talosnode/node"),
		machined:   toolenv.Folder(t, "talosnode/machined-"+release),
		containerd: toolenv.Folder(t, "talosnode/containerd"),
		discovery:  filepath.Join(toolenv.Folder(t, "talosnode/discovery"), "discovery"),
		etcd:       filepath.Join(toolenv.Folder(t, "talosnode/etcd"), "etcd"),
	}

	if o.Kubernetes {
		b.controlPlane = toolenv.Folder(t, "kube")
		b.nodeComponents = toolenv.Folder(t, "talosnode/kubernetes")
	}

	if o.Upgrade {
		b.next = toolenv.Folder(t, "talosnode/kubernetes-1.37")
	}

	if o.Swap {
		b.findSwap(t)
	}

	if os.Geteuid() != 0 {
		without(t, "Talos nodes are started by root only")
	}

	for _, program := range cache.HostPrograms() {
		if program.Bastion && !o.Bastion {
			continue
		}

		if _, err := exec.LookPath(program.Name); err != nil {
			without(t, program.Name+" is missing: apt-get install "+program.Package)
		}
	}

	b.runc, _ = exec.LookPath("runc") // one of them
	b.libraries = libraries(b.runc)

	return b
}

// without skips a test that cannot be run here, or fails it.
func without(t testing.TB, reason string) {
	t.Helper()

	if os.Getenv(toolenv.Require) == "1" {
		t.Fatal(reason)
	}

	t.Skip(reason)
}

// libraries are the files that the host's linker finds for a program. A static
// program has none.
func libraries(program string) []string {
	output, err := exec.Command("ldd", program).Output()
	if err != nil {
		return nil
	}

	return regexp.MustCompile(`/[^ ]+`).FindAllString(string(output), -1)
}

// binds are the files of the host that a node sees, by their path in the node.
func (b bed) binds() map[string]string {
	binds := map[string]string{
		"usr/bin/runc.real":          b.runc,
		"usr/bin/runc":               filepath.Join(b.node, "runc"),
		"usr/share/zoneinfo/Etc/UTC": filepath.Join(b.machined, "etc", "UTC"),
	}

	// machined is what it is called as.
	for _, name := range []string{"init", "poweroff", "shutdown", "dashboard"} {
		binds["usr/bin/"+name] = filepath.Join(b.machined, "machined")
	}

	for _, name := range []string{"containerd", "containerd-shim-runc-v2"} {
		binds["usr/bin/"+name] = filepath.Join(b.containerd, name)
	}

	for _, file := range b.libraries {
		binds["usr/lib/"+filepath.Base(file)] = file
	}

	return binds
}

// files are the texts that a node has in /etc. They are no binds, because
// Talos 1.14 lays an overlay over the folder, which shows nothing that is
// mounted in it.
func (b bed) files() (map[string]string, error) {
	files := map[string]string{}

	for name, from := range map[string]string{
		"etc/containerd/config.toml":  "containerd.toml",
		"etc/cri/containerd.toml":     "cri-containerd.toml",
		"etc/cri/conf.d/00-base.part": "cri-plugin.part",
		"etc/lvm/lvm.conf":            "lvm.conf",
	} {
		text, err := os.ReadFile(filepath.Join(b.machined, "etc", from))
		if err != nil {
			return nil, err
		}

		files[name] = string(text)
	}

	if b.controlPlane != "" {
		files["etc/cni/net.d/10-none.conflist"] = cniConfig
		// Talos 1.14 mounts an empty folder there.
		files["usr/lib/cni/10-none.conflist"] = cniConfig
		files["etc/cri/conf.d/10-cni.part"] = "[plugins.\"io.containerd.cri.v1.runtime\".cni]\n  conf_dir = \"/usr/lib/cni\"\n"
	}

	return files, nil
}
