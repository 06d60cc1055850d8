package catalogue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/needs"
)

// TestEveryEntryIsShown: the objects or values of each entry are in the file of a case.
func TestEveryEntryIsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, c := range cases(t) {
		for _, name := range c.show {
			shown[name] = true
		}
	}
	for _, name := range catalogue.Names() {
		if !shown[name] {
			t.Errorf("no case in %s shows %s", casesDir, name)
		}
	}
}

// TestNeedsOfEveryEntry: a machine that has nothing lacks all that an entry needs of
// it, by name and with a way to come by it; one that has that lacks nothing.
func TestNeedsOfEveryEntry(t *testing.T) {
	everyAddon(t, func(t *testing.T, c testCase, _ []catalogue.Addon) {
		f, _ := c.facts(t)
		for _, n := range catalogue.MachineNeeds(f) {
			for _, version := range []string{"v1.13.0", "v1.14.1"} {
				bare := needs.Machine{ControlPlane: true, Talos: version, Contract: version, Labels: n.NodeSelector}
				if len(n.Pools) > 0 {
					bare.Pool = n.Pools[0]
				}
				var keys []string
				for _, u := range n.Of(bare) {
					if u.What == "" || u.How == "" {
						t.Errorf("%s: %s is refused without a word", n.Addon, u.Key)
					}
					keys = append(keys, u.Key)
				}
				if got, want := strings.Join(keys, " "), strings.Join(wantedKeys(n, version), " "); got != want {
					t.Errorf("%s with Talos %s: a machine that has nothing lacks %q, want %q", n.Addon, version, got, want)
				}
				if left := n.Of(equipped(t, n, bare)); len(left) > 0 {
					t.Errorf("%s with Talos %s: a machine that has everything lacks %v", n.Addon, version, left)
				}
			}
		}
	})
}

// wantedKeys are the kinds of needs that a bare machine cannot meet, in their order.
func wantedKeys(n needs.Needs, version string) (keys []string) {
	add := func(key string, needed bool) {
		if needed {
			keys = append(keys, key)
		}
	}
	add("talosRoles", len(n.TalosRoles) > 0)
	add("extensions", len(n.Extensions) > 0)
	add("kernelModules", len(n.KernelModules) > 0)
	for name := range n.Sysctls {
		add("sysctls."+name, true)
	}
	add("keptLayers", n.KeptLayers)
	for range n.UserVolumes {
		add("userVolumes", true)
	}
	if !needs.SeesAll(version) {
		for range n.KubeletMounts {
			add("kubeletMounts", true)
		}
	}
	add("unsecuredVar", n.UnsecuredVar && needs.SecuresVar(version))
	return keys
}

// equipped is a machine with what an addon needs, in documents of Talos 1.14 or, where
// it has none, in the old place.
func equipped(t *testing.T, n needs.Needs, m needs.Machine) needs.Machine {
	t.Helper()
	m.Extensions = n.Extensions
	add := func(kind, name, text string) {
		leaves, err := yamltext.Leaves([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		m.Documents = append(m.Documents, needs.Document{Kind: kind, Name: name, Leaves: leaves})
	}
	for _, name := range n.KernelModules {
		add("KernelModuleConfig", name, "name: "+name+"\n")
	}
	for name, value := range n.Sysctls {
		add("SysctlConfig", "", "params:\n  "+name+": \""+strings.TrimSpace(strings.TrimPrefix(value, ">="))+"\"\n")
	}
	for _, name := range n.UserVolumes {
		add("UserVolumeConfig", name, "name: "+name+"\n")
	}
	for _, dir := range n.KubeletMounts {
		add("", "", "machine:\n  kubelet:\n    extraMounts:\n      - destination: "+dir+"\n")
	}
	if n.UnsecuredVar {
		add("VolumeConfig", "EPHEMERAL", "mount:\n  secure: false\n")
	}
	if n.KeptLayers {
		add("CRICustomizationConfig", "own", "content: |\n  [plugins.x]\n    discard_unpacked_layers = false\n")
	}
	if len(n.TalosRoles) > 0 {
		roles := slices.Concat([]string{""}, n.TalosRoles)
		add("KubeTalosAPIAccessConfig", "", "allowedRoles:"+strings.Join(roles, "\n  - ")+"\nallowedKubernetesNamespaces:\n  - "+n.Namespace+"\n")
	}
	return m
}
