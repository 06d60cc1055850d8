// Package needs says what addons need of machines, and what of it a machine does
// not have. It is pure.
package needs

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/schemas"
)

// Needs is what an addon needs of the machines that it runs on.
type Needs struct {
	Addon string
	// Option says so in cluster.yaml, written with dots.
	Option string
	// Namespace is where the addon runs.
	Namespace string
	schemas.AddonNeeds
}

// Machine is what a node has, and who may run on it.
type Machine struct {
	ControlPlane bool
	Pool         string
	Labels       map[string]string
	// Tainted tells that pods run there only if they tolerate a taint.
	Tainted bool
	// Talos and Contract are the versions of Talos and of the vocabulary of its
	// configuration.
	Talos, Contract string
	// Extensions are those of its image. They are not known of a Schematic that is
	// given by its id.
	Extensions []string
	Schematic  string
	Documents  []Document
}

// Document is a document of a machine configuration.
type Document struct {
	Kind, Name string
	Leaves     []yamltext.Leaf
}

// Unmet is something that a machine does not have.
type Unmet struct {
	What string // such as: the extension siderolabs/iscsi-tools
	How  string // to come by it
	// Key is the key of needs that asks for it.
	Key string
	// Unknown tells that nobody knows whether the machine has it.
	Unknown bool
	// Applicable tells that talosgen can add it by itself.
	Applicable bool
}

// None tells whether the addon needs nothing of any machine.
func (n Needs) None() bool {
	return len(n.Extensions)+len(n.KernelModules)+len(n.Sysctls)+len(n.UserVolumes)+len(n.KubeletMounts)+len(n.TalosRoles) == 0 && !n.UnsecuredVar && !n.KeptLayers
}

// RunsOn tells whether the addon can run on a machine.
func (n Needs) RunsOn(m Machine) bool {
	if len(n.Pools) > 0 && !slices.Contains(n.Pools, m.Pool) {
		return false
	}
	for key, value := range n.NodeSelector {
		if has, there := m.Labels[key]; !there || has != value {
			return false
		}
	}
	return !m.Tainted || len(n.Pools) > 0 || len(n.NodeSelector) > 0
}

// Of is what the addon needs of a machine and the machine does not have.
func (n Needs) Of(m Machine) []Unmet {
	var all []Unmet
	if m.ControlPlane {
		all = append(all, n.talosAPI(m)...)
	}
	if !n.RunsOn(m) {
		return all
	}
	all = append(all, n.extensions(m)...)
	all = append(all, n.modules(m)...)
	all = append(all, n.sysctls(m)...)
	all = append(all, n.layers(m)...)
	return append(all, n.volumes(m)...)
}

func (n Needs) extensions(m Machine) []Unmet {
	missing := without(n.Extensions, m.Extensions)
	switch {
	case len(missing) == 0:
		return nil
	case m.Schematic != "":
		return []Unmet{{
			Key: "extensions", Unknown: true, What: few("the extension", missing) + ", and which ones are in the image of talos.schematic is not known",
			How: "if they are, say so: needs.unmet: ignore",
		}}
	}
	return []Unmet{{Key: "extensions", Applicable: true, What: few("the extension", missing), How: "set talos.extensions: " + list(slices.Concat(m.Extensions, missing))}}
}

func (n Needs) modules(m Machine) (all []Unmet) {
	if missing := without(n.KernelModules, m.modules()); len(missing) > 0 {
		var items []string
		for _, name := range missing {
			items = append(items, "{name: "+name+"}")
		}
		all = append(all, Unmet{Key: "kernelModules", Applicable: true, What: few("the kernel module", missing), How: "add to talos.kernelModules: " + strings.Join(items, ", ")})
	}
	return all
}

func (n Needs) sysctls(m Machine) (all []Unmet) {
	set := m.sysctls()
	for _, name := range slices.Sorted(maps.Keys(n.Sysctls)) {
		want, has := n.Sysctls[name], set[name]
		if fits(want, has) {
			continue
		}
		u := Unmet{
			Key: "sysctls." + name, Applicable: has == "", What: "the kernel parameter " + name + " " + strings.Replace(want, atLeast, "of at least ", 1),
			How: "add to talos.sysctls: {" + name + ": " + number(want) + "}",
		}
		if has != "" {
			u.What += ", which is " + has
			u.How = "change it where it is set: in talos.sysctls, or in a patch"
		}
		all = append(all, u)
	}
	return all
}

// hardened is the minor version of the first Talos that mounts /var without device
// files and set-user-id programs, and whose vocabulary has no mounts of the kubelet.
const hardened = 14

// SecuresVar tells whether a Talos mounts /var without device files and set-user-id
// programs unless it is told not to.
func SecuresVar(talos string) bool { return versions.Minor(talos) >= hardened }

// SeesAll tells whether the kubelet needs no mounts at a contract.
func SeesAll(contract string) bool { return versions.Minor(contract) >= hardened }

func (n Needs) volumes(m Machine) (all []Unmet) {
	var volumes []string
	for _, d := range m.Documents {
		if strings.HasSuffix(d.Kind, "VolumeConfig") && d.Kind != "VolumeConfig" {
			volumes = append(volumes, d.Name)
		}
	}
	for _, name := range without(n.UserVolumes, volumes) {
		all = append(all, Unmet{
			Key: "userVolumes", What: "the user volume " + name, How: "add a patch with a UserVolumeConfig of the name " + name + ", which says on which disk it is",
		})
	}
	if !SeesAll(m.Contract) {
		mounts := m.texts("", "", "machine.kubelet.extraMounts[].destination")
		for _, dir := range n.KubeletMounts {
			if slices.ContainsFunc(mounts, func(mount string) bool { return within(dir, mount) }) {
				continue
			}
			all = append(all, Unmet{
				Key: "kubeletMounts", Applicable: true, What: dir + " to be mounted into the kubelet",
				How: "add to kubernetes.kubelet.extraMounts: {source: " + dir + ", destination: " + dir + ", type: bind, options: [bind, rshared, rw]}",
			})
		}
	}
	if n.UnsecuredVar && SecuresVar(m.Talos) && !slices.Equal(m.texts("VolumeConfig", "EPHEMERAL", "mount.secure"), []string{"false"}) {
		all = append(all, Unmet{
			Key: "unsecuredVar", Applicable: true, What: "/var without the mount options nosuid and nodev", How: "set talos.secureVar: false",
		})
	}
	return all
}

// talosAPI is about what pods may ask of the Talos API, which control planes decide.
func (n Needs) talosAPI(m Machine) []Unmet {
	if len(n.TalosRoles) == 0 || n.Namespace == "" { // the latter is refused
		return nil
	}
	const at = "machine.features.kubernetesTalosAPIAccess."
	roles := append(m.texts("", "", at+"allowedRoles[]"), m.texts("KubeTalosAPIAccessConfig", "", "allowedRoles[]")...)
	spaces := append(m.texts("", "", at+"allowedKubernetesNamespaces[]"), m.texts("KubeTalosAPIAccessConfig", "", "allowedKubernetesNamespaces[]")...)
	missing := without(n.TalosRoles, roles)
	if len(missing) == 0 && slices.Contains(spaces, n.Namespace) {
		return nil
	}
	how := "set talos.apiAccess: {enabled: true, roles: " + list(union(roles, n.TalosRoles)) + ", namespaces: " + list(union(spaces, []string{n.Namespace})) + "}"
	alike := len(roles) == 0 || sameTexts(roles, n.TalosRoles)
	if !alike {
		how += ",\nif each of these namespaces may have each of these roles: Talos does not tell them apart"
	}
	return []Unmet{{
		Key: "talosRoles", Applicable: alike, What: few("the role", n.TalosRoles) + " of the Talos API in the namespace " + n.Namespace, How: how,
	}}
}

// within tells whether a directory is another, or in it.
func within(dir, other string) bool {
	dir, other = path.Clean(dir), path.Clean(other)
	return dir == other || strings.HasPrefix(dir, strings.TrimSuffix(other, "/")+"/")
}

// without are the texts that are not among others.
func without(texts, others []string) (rest []string) {
	for _, text := range texts {
		if !slices.Contains(others, text) && !slices.Contains(rest, text) {
			rest = append(rest, text)
		}
	}
	return rest
}

// sameTexts tells whether two lists have the same texts, in any order.
func sameTexts(a, b []string) bool { return len(without(a, b)) == 0 && len(without(b, a)) == 0 }

// union are texts and others, each once.
func union(texts, others []string) []string {
	return append(slices.Clip(texts), without(others, texts)...)
}

func list(items []string) string { return "[" + strings.Join(items, ", ") + "]" }

// few names one or several things of a kind.
func few(kind string, names []string) string {
	if len(names) == 1 {
		return kind + " " + names[0]
	}
	last := len(names) - 1
	return kind + "s " + strings.Join(names[:last], ", ") + " and " + names[last]
}
