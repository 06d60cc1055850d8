package catalogue

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// addonSettings are what cluster.yaml says about addons, those of the catalogue and its own.
type addonSettings struct{ *facts }

// settle lays what cluster.yaml says of an addon of the catalogue over it.
func (f addonSettings) settle(e entry, a *Addon) {
	s, at := f.setting(e.name), "addons."+e.name
	if s.Layer != "" {
		a.Layer = Layer(s.Layer)
		if e.layer == Bootstrap {
			f.fail(at+".layer", "remove it; see cni.manager for Cilium", "%s has to run before Flux can, so it stays in the layer bootstrap", e.name)
		}
	}
	if s.PodSecurity != "" {
		a.PodSecurity = s.PodSecurity
	}
	if s.Hooks != "" {
		a.Hooks = Hooks(s.Hooks)
	}
	a.DependsOn = append(a.DependsOn, s.DependsOn...)
	if source := f.source(at, s); source != nil {
		if e.builtIn || source.Chart == nil {
			// Secrets stay: what cluster.yaml names holds none.
			a.Objects = slices.DeleteFunc(a.Objects, func(o object) bool { return o.Kind() != "Secret" })
		}
		a.Source = source
		if e.builtIn && e.layer == Bootstrap && s.Source.Path == "" {
			a.Warnings = append(a.Warnings, "addons."+e.name+".source replaces what talosgen would run itself")
		}
	}
}

// checkUnused refuses settings of an addon that the cluster does not have,
// unless it is turned off for a while.
func (f addonSettings) checkUnused(e entry) {
	s := f.setting(e.name)
	if s.Enabled != nil {
		return // off, or reported already
	}
	s.Needs.Unmet = "" // which has a default
	if !reflect.DeepEqual(s, schemas.Addon{}) {
		hint := "remove them, or enable it: " + howToEnable(e.name)
		if e.hetzner && f.Cluster.Provider != schemas.Hetzner {
			hint = "remove them: it is for provider hetzner"
		}
		f.fail("addons."+e.name, hint, "settings of %s, which this cluster does not have", e.name)
	}
}

// declared are the addons that cluster.yaml declares and the catalogue does not
// know.
func (f addonSettings) declared() []Addon {
	var all []Addon
	known := namesFor(f.facts)
	for _, name := range slices.Sorted(maps.Keys(f.Cluster.Addons)) {
		if slices.Contains(known, name) {
			continue
		}
		s, at := f.Cluster.Addons[name], "addons."+name
		if f.badName(name, at) {
			continue
		}
		source := f.source(at, s)
		if source == nil {
			f.fail(at, hintFor(name, known), "addon %s has no source, and is none that talosgen knows", name)
			continue
		}
		if s.Enabled != nil && !*s.Enabled {
			continue
		}
		layer := Apps
		if s.Layer != "" {
			layer = Layer(s.Layer)
		}
		a := Addon{
			Name: name, Layer: layer, DependsOn: slices.Clone(s.DependsOn), Namespace: s.Namespace,
			PodSecurity: s.PodSecurity, Source: source, Hooks: Hooks(s.Hooks), Origin: at, Needs: s.Needs,
		}
		f.checkSecrets(secretNeeds(name, s.Needs.Secrets))
		if len(s.Needs.TalosRoles) > 0 && s.Namespace == "" {
			f.fail(at+".needs.talosRoles", "add "+at+".namespace", "Talos gives roles to namespaces, and addon %s names none", name)
		}
		f.checkLevel(&a)
		all = append(all, a)
	}
	return all
}

// declaredNames are those of addons that cluster.yaml declares, the catalogue does not
// know and nobody turned off.
func (f *facts) declaredNames() (names []string) {
	known := namesFor(f)
	for _, name := range slices.Sorted(maps.Keys(f.Cluster.Addons)) {
		if set := f.setting(name).Enabled; !slices.Contains(known, name) && (set == nil || *set) {
			names = append(names, name)
		}
	}
	return names
}

// badName refuses names that would not be good ones of directories and of
// Kustomizations.
func (f addonSettings) badName(name, at string) bool {
	format, _ := schemas.FormatOf("dnsLabel")
	if matches(format.Pattern, name) {
		return false
	}
	f.fail(at, "", "the name of an addon must be %s, not %q", format.Meaning, name)
	return true
}

func hintFor(name string, known []string) string {
	own := "give it a source: chart, manifests or path"
	if suggestion := diag.Suggest(name, known); suggestion != "" {
		return suggestion + "\n" + own
	}
	return own + "\nknown ones: " + strings.Join(known, ", ")
}

// source is where the settings say that objects come from; nil if they do not.
func (f addonSettings) source(at string, s schemas.Addon) *Source {
	from, option := s.Source, at+".source"
	chart := from.Chart.Name != "" || from.Chart.Repository != "" || from.Chart.Path != ""
	count := 0
	for _, given := range []bool{chart, len(from.Manifests) > 0, from.Path != ""} {
		if given {
			count++
		}
	}
	switch {
	case count == 0:
		return nil
	case count > 1:
		f.fail(option, "keep one of them; a kustomization in envs/<env>/addons/<addon>/ can add to it", "a source is one of chart, manifests and path")
		return &Source{Path: from.Path}
	case chart:
		return &Source{Chart: f.chart(option+".chart", s)}
	case from.Path != "":
		return &Source{Path: from.Path}
	}
	source := &Source{}
	for i, m := range from.Manifests {
		source.Manifests = append(source.Manifests, Remote(m))
		if !strings.HasPrefix(m.URL, "https://") && m.URL != "" {
			f.fail(option+".manifests."+strconv.Itoa(i)+".url", "", "what runs in a cluster is fetched by https only")
		}
	}
	return source
}

// chart checks that a chart is named in one way, with its version.
func (f addonSettings) chart(option string, s schemas.Addon) *Chart {
	c := s.Source.Chart
	switch {
	case c.Path != "" && (c.Repository != "" || c.Name != ""):
		f.fail(option, "keep path, or repository and name", "a chart is in the repository of its author or in this one")
	case c.Path == "" && (c.Repository == "" || c.Name == ""):
		f.fail(option, "for example {repository: https://charts.example.com, name: podinfo}", "a chart needs repository and name, or path")
	case c.Path == "" && s.Version == "":
		f.fail(strings.TrimSuffix(option, ".source.chart"), "for example version: 6.9.0", "a chart needs its exact version")
	}
	return &Chart{Repository: c.Repository, Name: c.Name, Version: s.Version, Path: c.Path}
}
