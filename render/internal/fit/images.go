package fit

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"

	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// factory matches the images of an Image Factory.
var factory = regexp.MustCompile(`^([^/]+)/(?:([-a-z0-9A-Z]+)-)?installer(-secureboot)?/([0-9a-f]{64}):`)

// image is what the name of an installer image says of it; the zero value if that is no
// image of a factory.
type image struct {
	factory, platform, schematic string
	secureBoot                   bool
}

func imageOf(o foreign.Machine) (i image) {
	for _, place := range installers {
		if found := factory.FindStringSubmatch(foreign.Value(o.Config, place[0], place[1:]...)); found != nil {
			return image{factory: found[1], platform: found[2], secureBoot: found[3] != "", schematic: found[4]}
		}
	}
	return i
}

// contents are the options for what the image of a machine has: what its schematic
// consists of, or else its id.
func contents(o foreign.Machine) (f fields) {
	id := imageOf(o).schematic
	switch p := o.Parts; {
	case id == "" || id == machine.NewSchematic(nil, nil, machine.Overlay{}).ID:
		return nil
	case id != machine.NewSchematic(p.Extensions, p.KernelArgs, p.Overlay).ID:
		return fields{field("schematic", id)}
	default:
		if len(p.Extensions) > 0 {
			f = append(f, field("extensions", p.Extensions))
		}
		if len(p.KernelArgs) > 0 {
			f = append(f, field("extraKernelArgs", p.KernelArgs))
		}
		if p.Overlay != (machine.Overlay{}) {
			f = append(f, field("overlay", map[string]string{"name": p.Overlay.Name, "image": p.Overlay.Image}))
		}
		return f
	}
}

// variant are the options for how the image of a machine boots.
func variant(o foreign.Machine) (f fields) {
	i := imageOf(o)
	if i.secureBoot {
		f = append(f, field("secureBoot", true))
	}
	if i.platform != "" && i.platform != "metal" {
		f = append(f, field("platform", i.platform))
	}
	return f
}

// shared are the options that all of some machines have, and whether these are all that
// any of them has.
func shared(machines []foreign.Machine, of func(foreign.Machine) fields) (f fields, all bool) {
	f = of(machines[0])
	for _, o := range machines[1:] {
		if !reflect.DeepEqual(of(o), f) {
			return nil, false
		}
	}
	return f, true
}

// ofAll are the options for what the images of all machines have, and whether that is so:
// a cluster has no overlay.
func ofAll(machines []foreign.Machine) (f fields, all bool) {
	f, all = shared(machines, contents)
	return f, all && !slices.ContainsFunc(f, func(x keyed) bool { return x.name == "overlay" })
}

// clusterImage are the options for an image that all machines have.
func clusterImage(machines []foreign.Machine) (s settings) {
	if f, all := ofAll(machines); all {
		for _, x := range f {
			s = append(s, setting{path: "talos." + x.name, value: x.value})
		}
	}
	for _, o := range machines {
		if from := imageOf(o).factory; cmp.Or(from, "factory.talos.dev") != "factory.talos.dev" {
			return append(s, setting{path: "talos.imageFactory", value: from})
		}
	}
	return s
}

// imageFields are the options for the images of some machines that are not those of all:
// of the pool, and of each machine.
func imageFields(all, machines []foreign.Machine) (pool fields, own func(foreign.Machine) fields) {
	levels := []func(foreign.Machine) fields{contents, variant}
	if _, same := ofAll(all); same {
		levels = levels[1:]
	}
	var each []func(foreign.Machine) fields
	for _, of := range levels {
		f, same := shared(machines, of)
		pool = append(pool, f...)
		if !same {
			each = append(each, of)
		}
	}
	return pool, func(o foreign.Machine) (f fields) {
		for _, of := range each {
			f = append(f, of(o)...)
		}
		return f
	}
}
