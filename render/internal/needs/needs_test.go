package needs_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/needs"
	"github.com/talosgen/talosgen/schemas"
)

// machine is a worker of a contract with documents, each a kind, a name and leaves.
func machine(t *testing.T, talos string, documents ...string) needs.Machine {
	t.Helper()
	m := needs.Machine{Pool: "worker", Labels: map[string]string{"disk": "ssd"}, Talos: talos, Contract: talos, Extensions: []string{"siderolabs/iscsi-tools"}}
	for _, text := range documents {
		head, body, _ := strings.Cut(text, "\n")
		kind, name, _ := strings.Cut(head, " ")
		leaves, err := yamltext.Leaves([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		m.Documents = append(m.Documents, needs.Document{Kind: strings.TrimPrefix(kind, "main"), Name: name, Leaves: leaves})
	}
	return m
}

const (
	oldSettings = "main\nmachine:\n  sysctls:\n    vm.nr_hugepages: \"512\"\n  kernel:\n    modules:\n      - name: nbd\n  kubelet:\n    extraMounts:\n      - destination: /var/lib/disks\n"
	newSysctls  = "SysctlConfig\nparams:\n  vm.nr_hugepages: \"2048\"\n"
	newModule   = "KernelModuleConfig nbd\nname: nbd\n"
	volume      = "UserVolumeConfig disks\nname: disks\n"
	openVar     = "VolumeConfig EPHEMERAL\nmount:\n  secure: false\n"
	safeVar     = "VolumeConfig EPHEMERAL\nmount:\n  secure: true\n"
	oldLayers   = "main\nmachine:\n  files:\n    - path: /etc/cri/conf.d/20-customization.part\n      content: |\n        [plugins.\"io.containerd.cri.v1.images\"]\n          discard_unpacked_layers = false\n"
	newLayers   = "CRICustomizationConfig own\nname: own\ncontent: |\n  [plugins.x]\n    discard_unpacked_layers=false\n"
	noLayers    = "CRICustomizationConfig own\nname: own\ncontent: |\n  # discard_unpacked_layers = false\n  discard_unpacked_layers = true\n"
	talosAPI    = "KubeTalosAPIAccessConfig\nallowedRoles:\n  - os:reader\nallowedKubernetesNamespaces:\n  - disks\n"
)

// What a machine lacks of a need, for each kind of need and both vocabularies.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		name  string
		needs schemas.AddonNeeds
		m     needs.Machine
		want  string // keys
	}{
		{"an extension that is there", schemas.AddonNeeds{Extensions: []string{"siderolabs/iscsi-tools"}}, machine(t, "v1.13.0"), ""},
		{"one that is not", schemas.AddonNeeds{Extensions: []string{"siderolabs/nfs-utils"}}, machine(t, "v1.13.0"), "extensions"},
		{"an old module", schemas.AddonNeeds{KernelModules: []string{"nbd"}}, machine(t, "v1.13.0", oldSettings), ""},
		{"a new module", schemas.AddonNeeds{KernelModules: []string{"nbd"}}, machine(t, "v1.14.0", newModule), ""},
		{"another module", schemas.AddonNeeds{KernelModules: []string{"nvme_tcp"}}, machine(t, "v1.14.0", oldSettings, newModule), "kernelModules"},
		{"the same value", schemas.AddonNeeds{Sysctls: map[string]string{"vm.nr_hugepages": "512"}}, machine(t, "v1.13.0", oldSettings), ""},
		{"another value", schemas.AddonNeeds{Sysctls: map[string]string{"vm.nr_hugepages": "1024"}}, machine(t, "v1.13.0", oldSettings), "sysctls.vm.nr_hugepages"},
		{"too small", schemas.AddonNeeds{Sysctls: map[string]string{"vm.nr_hugepages": ">=1024"}}, machine(t, "v1.13.0", oldSettings), "sysctls.vm.nr_hugepages"},
		{"the document wins", schemas.AddonNeeds{Sysctls: map[string]string{"vm.nr_hugepages": ">= 1024"}}, machine(t, "v1.14.0", oldSettings, newSysctls), ""},
		{"never set", schemas.AddonNeeds{Sysctls: map[string]string{"vm.nr_hugepages": ">=0"}}, machine(t, "v1.14.0"), "sysctls.vm.nr_hugepages"},
		{"a volume", schemas.AddonNeeds{UserVolumes: []string{"disks"}}, machine(t, "v1.14.0", volume), ""},
		{"no volume", schemas.AddonNeeds{UserVolumes: []string{"disks"}}, machine(t, "v1.14.0", openVar), "userVolumes"},
		{"a mount above", schemas.AddonNeeds{KubeletMounts: []string{"/var/lib/disks/a"}}, machine(t, "v1.13.0", oldSettings), ""},
		{"a mount beside", schemas.AddonNeeds{KubeletMounts: []string{"/var/lib/disks-2"}}, machine(t, "v1.13.0", oldSettings), "kubeletMounts"},
		{"no mounts any more", schemas.AddonNeeds{KubeletMounts: []string{"/var/lib/disks-2"}}, machine(t, "v1.14.0"), ""},
		{"/var as it was", schemas.AddonNeeds{UnsecuredVar: true}, machine(t, "v1.13.0"), ""},
		{"/var as it is", schemas.AddonNeeds{UnsecuredVar: true}, machine(t, "v1.14.0", safeVar), "unsecuredVar"},
		{"/var by default", schemas.AddonNeeds{UnsecuredVar: true}, machine(t, "v1.14.0"), "unsecuredVar"},
		{"/var opened", schemas.AddonNeeds{UnsecuredVar: true}, machine(t, "v1.14.0", openVar), ""},
		{"layers that are kept", schemas.AddonNeeds{KeptLayers: true}, machine(t, "v1.13.0", oldLayers), ""},
		{"layers that a document keeps", schemas.AddonNeeds{KeptLayers: true}, machine(t, "v1.14.0", newLayers), ""},
		{"layers that are not", schemas.AddonNeeds{KeptLayers: true}, machine(t, "v1.14.0", noLayers), "keptLayers"},
		{"layers, by default", schemas.AddonNeeds{KeptLayers: true}, machine(t, "v1.14.0"), "keptLayers"},
		{"another pool", schemas.AddonNeeds{UserVolumes: []string{"disks"}, Pools: []string{"storage"}}, machine(t, "v1.14.0"), ""},
		{"other labels", schemas.AddonNeeds{UserVolumes: []string{"disks"}, NodeSelector: map[string]string{"disk": "hdd"}}, machine(t, "v1.14.0"), ""},
		{"these labels", schemas.AddonNeeds{UserVolumes: []string{"disks"}, NodeSelector: map[string]string{"disk": "ssd"}}, machine(t, "v1.14.0"), "userVolumes"},
		{"workers hold no keys", schemas.AddonNeeds{TalosRoles: []string{"os:reader"}}, machine(t, "v1.14.0"), ""},
	} {
		t.Run(c.name, func(t *testing.T) { compare(t, c.needs, c.m, c.want) })
	}
}

// Control planes decide about the Talos API, whoever runs on them.
func TestOfControlPlanes(t *testing.T) {
	for _, c := range []struct {
		name, document, want string
		needs                schemas.AddonNeeds
	}{
		{"closed", volume, "talosRoles", schemas.AddonNeeds{TalosRoles: []string{"os:reader"}}},
		{"open", talosAPI, "", schemas.AddonNeeds{TalosRoles: []string{"os:reader"}}},
		{"for less", talosAPI, "talosRoles", schemas.AddonNeeds{TalosRoles: []string{"os:reader", "os:admin"}}},
		{"tainted", talosAPI, "", schemas.AddonNeeds{UserVolumes: []string{"disks"}}},
		{"tainted and named", talosAPI, "userVolumes", schemas.AddonNeeds{UserVolumes: []string{"disks"}, Pools: []string{"control-plane"}}},
	} {
		m := machine(t, "v1.14.0", c.document)
		m.ControlPlane, m.Tainted, m.Pool = true, true, "control-plane"
		t.Run(c.name, func(t *testing.T) { compare(t, c.needs, m, c.want) })
	}
}

func compare(t *testing.T, n schemas.AddonNeeds, m needs.Machine, want string) {
	t.Helper()
	var keys []string
	for _, u := range (needs.Needs{Addon: "disks", Namespace: "disks", AddonNeeds: n}).Of(m) {
		keys = append(keys, u.Key)
	}
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("lacks %q, want %q", got, want)
	}
}

// Each kind of need makes a difference, and what is no machine's does not.
func TestNone(t *testing.T) {
	for _, c := range []struct {
		needs schemas.AddonNeeds
		none  bool
	}{
		{schemas.AddonNeeds{}, true},
		{schemas.AddonNeeds{PodSecurity: "privileged", Definitions: []string{"a.example.com"}, StorageClass: "a", Secrets: []string{"A"}, Pools: []string{"a"}, Unmet: "warn"}, true},
		{schemas.AddonNeeds{Extensions: []string{"a"}}, false},
		{schemas.AddonNeeds{KernelModules: []string{"a"}}, false},
		{schemas.AddonNeeds{Sysctls: map[string]string{"a": "1"}}, false},
		{schemas.AddonNeeds{UserVolumes: []string{"a"}}, false},
		{schemas.AddonNeeds{KubeletMounts: []string{"/a"}}, false},
		{schemas.AddonNeeds{TalosRoles: []string{"os:reader"}}, false},
		{schemas.AddonNeeds{UnsecuredVar: true}, false},
		{schemas.AddonNeeds{KeptLayers: true}, false},
	} {
		if got := (needs.Needs{AddonNeeds: c.needs}).None(); got != c.none {
			t.Errorf("%+v: %v", c.needs, got)
		}
	}
}
