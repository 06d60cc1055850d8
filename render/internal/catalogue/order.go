package catalogue

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// layers are all layers, in their order.
var layers = []Layer{Bootstrap, Controllers, Configs, Apps}

// matches tells whether a text has the form of a pattern.
func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// orderRules are about which addons come before which.
type orderRules struct{ *facts }

// checkOrder makes sure that addons can come up one after the other: what one
// depends on is there, is not later, and does not wait for it.
func (f orderRules) checkOrder(all []Addon) {
	byName := map[string]Addon{}
	for _, a := range all {
		byName[a.Name] = a
	}
	for _, a := range all {
		for i, name := range a.DependsOn {
			f.checkDependency(a, name, f.dependency(a, name, i), byName)
		}
	}
	reported := map[string]bool{}
	for _, a := range all {
		path := cycle(a.Name, byName, nil)
		if path == nil || reported[path[0]] {
			continue
		}
		for _, name := range path {
			reported[name] = true
		}
		f.fail("addons."+path[0]+".dependsOn", "remove one of the dependencies", "addons wait for one another: %s", strings.Join(path, " → "))
	}
}

// dependency is the option that names a dependency, as far as one does.
func (f orderRules) dependency(a Addon, name string, i int) string {
	own := f.setting(a.Name).DependsOn
	if at := slices.Index(own, name); at >= 0 {
		return "addons." + a.Name + ".dependsOn." + strconv.Itoa(at)
	}
	return "addons." + a.Name + ".dependsOn." + strconv.Itoa(i)
}

func (f orderRules) checkDependency(a Addon, name, option string, byName map[string]Addon) {
	needed, there := byName[name]
	switch {
	case !there && slices.Contains(namesFor(f.facts), name):
		f.fail(option, "enable it: "+howToEnable(name), "addon %s depends on %s, which this cluster does not have", a.Name, name)
	case !there:
		f.fail(option, diag.Suggest(name, sortedNames(byName)), "addon %s depends on %s, which is no addon", a.Name, name)
	case slices.Index(layers, needed.Layer) > slices.Index(layers, a.Layer):
		f.fail(option, "give one of them another layer", "addon %s of the layer %s depends on %s, which is of the layer %s and comes later", a.Name, a.Layer, name, needed.Layer)
	}
}

// howToEnable is the option that gives a cluster an addon of the catalogue.
func howToEnable(name string) string {
	for _, e := range append(entries(), engines()...) {
		if e.name == name && e.onlyBy != "" {
			return e.onlyBy
		}
	}
	return "addons." + name + ".enabled: true"
}

func sortedNames(byName map[string]Addon) []string {
	var names []string
	for name := range byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// cycle returns the way from an addon back to itself through what it depends
// on, or nil.
func cycle(name string, byName map[string]Addon, before []string) []string {
	if at := slices.Index(before, name); at >= 0 {
		if at > 0 {
			return nil // another addon's cycle, found from there
		}
		return append(slices.Clone(before), name)
	}
	for _, next := range byName[name].DependsOn {
		if path := cycle(next, byName, append(slices.Clone(before), name)); path != nil {
			return path
		}
	}
	return nil
}
