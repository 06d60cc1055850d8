package cache

// talosnode is what testenv/talosenv starts Talos nodes with: machined and
// containerd from their modules, and what stands in for the rest of the
// operating system.
func talosnode() []Module {
	const (
		own        = "github.com/talosgen/talosgen/testenv/talosnode/node/"
		containerd = "github.com/containerd/containerd/v2/cmd/"

		nodeComponents = "node-components"
	)

	return []Module{
		{Folder: "talosnode/node", Tools: []Tool{
			{Name: "init", Package: own + "init"},
			{Name: "runc", Package: own + "runc"},
			{Name: "kubelet", Package: own + "kubelet"},
			{Name: "mount", Package: own + "mount"},
			{Name: "pause", Package: own + "pause"},
		}},
		{Folder: "talosnode/discovery", Tools: []Tool{
			{Name: "discovery", Package: "github.com/talosgen/talosgen/testenv/talosnode/discovery"},
		}},
		{Folder: "talosnode/etcd", Tools: []Tool{{Name: "etcd", Package: "go.etcd.io/etcd/server/v3"}}},
		{Folder: nextEtcd, Tools: []Tool{{Name: "etcd", Package: "go.etcd.io/etcd/server/v3"}}},
		{Folder: "talosnode/containerd", Tools: []Tool{
			{Name: "containerd", Package: containerd + "containerd"},
			{Name: "containerd-shim-runc-v2", Package: containerd + "containerd-shim-runc-v2"},
		}},
		machined("1.13"),
		machined("1.14"),
		{
			Folder: "talosnode/kubernetes",
			Tools: []Tool{
				{Name: nodeComponents, Package: "github.com/talosgen/talosgen/testenv/talosnode/kubernetes/" + nodeComponents},
				{Name: "kubelet", Package: "k8s.io/kubernetes/cmd/kubelet", Alias: nodeComponents},
				{Name: "kube-scheduler", Package: "k8s.io/kubernetes/cmd/kube-scheduler", Alias: nodeComponents},
			},
			LinkerFlags: kubernetesVersion,
		},
		next(),
		installer("1.13"),
		installer("1.14", Tool{Name: "machine", Package: talos}),
	}
}

const talos = "github.com/siderolabs/talos"

// installer is what an installer image of a release of Talos runs.
func installer(release string, more ...Tool) Module {
	return Module{
		Folder: "talosnode/installer-" + release,
		Tools:  append(more, Tool{Name: "installer", Package: talos + "/cmd/installer"}),
	}
}

// nextKubernetes is the folder of the Kubernetes that nodes are upgraded to, nextEtcd
// that of the etcd that Talos 1.14 brings.
const (
	nextKubernetes = "talosnode/kubernetes-1.37"
	nextEtcd       = "talosnode/etcd-3.7"
)

// next is all that runs of the next minor of Kubernetes on nodes.
func next() Module {
	const components = "components"

	m := Module{
		Folder:      nextKubernetes,
		Tools:       []Tool{{Name: components, Package: "github.com/talosgen/talosgen/testenv/" + nextKubernetes + "/" + components}},
		LinkerFlags: nextVersion,
	}

	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"} {
		m.Tools = append(m.Tools, Tool{Name: name, Package: "k8s.io/kubernetes/cmd/" + name, Alias: components})
	}

	return m
}

// machined is the init system of a release of Talos, with the configuration
// files that its image has.
func machined(release string) Module {
	return Module{
		Folder: "talosnode/machined-" + release,
		Tools:  []Tool{{Name: "machined", Package: talos + "/internal/app/machined"}},
		Files: []Files{
			{Folder: "etc", Module: talos, Glob: "hack/*containerd.toml"},
			{Folder: "etc", Module: talos, Glob: "hack/cri-plugin.part"},
			{Folder: "etc", Module: talos, Glob: "hack/lvm.conf"},
			{Folder: "etc", Module: talos, Glob: "hack/zoneinfo/Etc/UTC"},
		},
	}
}

// HostProgram is a program of the operating system, and the Debian package
// that has it.
type HostProgram struct {
	Name, Package string
	Bastion       bool // only tests with a bastion need it
}

// HostPrograms are what Talos nodes need of the machine besides what is built.
func HostPrograms() []HostProgram {
	return []HostProgram{
		{Name: "ip", Package: "iproute2"},
		{Name: "nsenter", Package: "util-linux"},
		{Name: "runc", Package: "runc"},
		{Name: "sshd", Package: "openssh-server", Bastion: true},
	}
}
