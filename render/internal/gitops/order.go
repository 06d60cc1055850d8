package gitops

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// layers are all of them, in their order.
var layers = []catalogue.Layer{catalogue.Bootstrap, catalogue.Controllers, catalogue.Configs, catalogue.Apps}

// orderer sorts addons by what they depend on.
type orderer struct {
	byName   map[string]*Addon
	steps    map[string]int // within the layer, from 1
	path     []string       // names on the way to the addon that is looked at
	problems diag.List
}

// order sorts addons by layer, by what they depend on within it, and by name;
// steps says how many others of its layer one waits for, one after another,
// itself included.
func order(addons []Addon) (sorted []Addon, steps map[string]int, err error) {
	o := orderer{byName: map[string]*Addon{}, steps: map[string]int{}}
	sorted = slices.Clone(addons)
	sorting.By(sorted, func(a, b Addon) int { return cmp.Compare(a.Name, b.Name) })
	for i, a := range sorted {
		if first := o.byName[a.Name]; first != nil {
			o.problems.Add(diag.On("addon "+a.Name, "is declared twice: by %s and by %s", first.Origin, a.Origin))
			continue
		}
		o.byName[a.Name] = &sorted[i]
	}
	for i := range sorted {
		o.step(&sorted[i])
	}
	sorting.By(sorted, func(a, b Addon) int {
		return cmp.Or(cmp.Compare(rank(a.Layer), rank(b.Layer)), cmp.Compare(o.steps[a.Name], o.steps[b.Name]))
	})
	return sorted, o.steps, o.problems.Err()
}

// Order lists addons by name in the order in which they come up.
func Order(addons []Addon) ([]string, error) {
	sorted, _, err := order(addons)
	var names []string
	for _, a := range sorted {
		names = append(names, a.Name)
	}
	return names, err
}

func rank(l catalogue.Layer) int { return slices.Index(layers, l) }

// step works out the step of an addon, after those of what it depends on.
func (o *orderer) step(a *Addon) int {
	if n, done := o.steps[a.Name]; done {
		return n
	}
	if rank(a.Layer) < 0 {
		o.problems.Add(diag.On("addon "+a.Name, "is in an unknown layer %q", a.Layer))
	}
	if at := slices.Index(o.path, a.Name); at >= 0 {
		circle := strings.Join(append(slices.Clone(o.path[at:]), a.Name), " → ")
		o.problems.Add(diag.On("addon "+a.Name, "waits for itself: %s", circle).WithHint("take one of them out of dependsOn"))
		o.steps[a.Name] = 1
		return 1
	}
	o.path = append(o.path, a.Name)
	n := 1
	for _, name := range a.DependsOn {
		n = max(n, o.after(a, name))
	}
	o.path = o.path[:len(o.path)-1]
	o.steps[a.Name] = n
	return n
}

// after is the first step for an addon that waits for another one.
func (o *orderer) after(a *Addon, name string) int {
	other := o.byName[name]
	switch {
	case other == nil:
		o.problems.Add(diag.On("addon "+a.Name, "depends on %q, which is no addon of this cluster", name).
			WithHint("%s", cmp.Or(diag.Suggest(name, o.names()), "declare it, or take it out of dependsOn")))
		return 1
	case rank(other.Layer) > rank(a.Layer):
		o.problems.Add(diag.On("addon "+a.Name, "of the layer %s depends on %s, which comes up later, in the layer %s", a.Layer, name, other.Layer).
			WithHint("put %s into the layer %s, or %s into an earlier one", a.Name, other.Layer, name))
		return 1
	case other.Layer != a.Layer:
		return 1 // the layer waits
	}
	return o.step(other) + 1
}

func (o *orderer) names() []string {
	var names []string
	for name := range o.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
