package catalogue

import (
	"cmp"
	"maps"
	"slices"

	"github.com/talosgen/talosgen/render/internal/needs"
	"github.com/talosgen/talosgen/schemas"
)

// MachineNeeds lists what the addons of a cluster need of its machines, those that need
// something. It looks at no secret.
func MachineNeeds(given Facts) []needs.Needs {
	f := &facts{Facts: given}
	var all []needs.Needs
	for _, e := range entries() {
		if on, origin := f.enabled(e); on {
			all = append(all, needs.Needs{Addon: e.name, Option: origin, Namespace: f.addon(e, origin).Namespace, AddonNeeds: f.needsOf(e)})
		}
	}
	for _, name := range f.declaredNames() {
		s := f.setting(name)
		all = append(all, needs.Needs{Addon: name, Option: "addons." + name, Namespace: s.Namespace, AddonNeeds: s.Needs})
	}
	return slices.DeleteFunc(all, needs.Needs.None)
}

// needsOf is what talosgen knows that an addon needs, and what cluster.yaml says
// besides. Where it runs, and what becomes of unmet needs, cluster.yaml says alone if
// it does.
func (f *facts) needsOf(e entry) schemas.AddonNeeds {
	all := f.setting(e.name).Needs
	if e.machine == nil {
		return all
	}
	known := e.machine(f)
	for _, both := range []struct {
		to    *[]string
		known []string
	}{
		{&all.Extensions, known.Extensions}, {&all.KernelModules, known.KernelModules}, {&all.UserVolumes, known.UserVolumes},
		{&all.KubeletMounts, known.KubeletMounts}, {&all.TalosRoles, known.TalosRoles}, {&all.Definitions, known.Definitions},
	} {
		*both.to = slices.Concat(both.known, *both.to)
	}
	all.UnsecuredVar = known.UnsecuredVar || all.UnsecuredVar
	all.KeptLayers = known.KeptLayers || all.KeptLayers
	sysctls := maps.Clone(known.Sysctls)
	if sysctls == nil {
		sysctls = map[string]string{}
	}
	maps.Copy(sysctls, all.Sysctls)
	all.Sysctls = sysctls
	all.PodSecurity = cmp.Or(all.PodSecurity, known.PodSecurity)
	all.StorageClass = cmp.Or(all.StorageClass, known.StorageClass)
	if len(all.Pools) == 0 && len(all.NodeSelector) == 0 {
		all.Pools, all.NodeSelector = known.Pools, known.NodeSelector
	}
	return all
}

// ApplyNeeds adds to a cluster what addons need of its machines and say that talosgen
// is to add. What it cannot add, such as a volume on some disk, a render refuses.
func ApplyNeeds(c *schemas.Cluster) {
	for _, n := range MachineNeeds(Facts{Cluster: *c}) {
		if n.Unmet == schemas.ApplyUnmet {
			n.Apply(c)
		}
	}
}

// levels are the levels of the pod security standards, the strictest first.
var levels = []string{restricted, "baseline", privileged}

// checkLevel makes sure that the pods of an addon are let in.
func (f *facts) checkLevel(a *Addon) {
	needed, has := a.Needs.PodSecurity, cmp.Or(a.PodSecurity, "baseline") // Talos' own default
	if a.Namespace == kubeSystem || slices.Index(levels, has) >= slices.Index(levels, needed) {
		return
	}
	hint := "addons." + a.Name + ".podSecurity: " + needed
	switch a.Needs.Unmet {
	case schemas.IgnoreUnmet:
	case schemas.ApplyUnmet:
		a.PodSecurity = needed
	case schemas.WarnUnmet:
		a.Warnings = append(a.Warnings, "its pods need the pod security level "+needed+", and its namespace has "+has+": set "+hint)
	default:
		f.fail("addons."+a.Name, "set "+hint, "addon %s needs the pod security level %s, and its namespace has %s", a.Name, needed, has)
	}
}
