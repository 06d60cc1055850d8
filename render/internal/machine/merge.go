package machine

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/merge"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// mergeTyped merges a document of a patch into another, as Talos does, and sees
// to what Talos' merge does not: what the patch does not mention is kept, and
// what it sets arrives.
func mergeTyped(left, right config.Document, patch *yaml.Node) error {
	l, r := reflect.ValueOf(left), reflect.ValueOf(right)
	if l.Type() == r.Type() { // else the merge complains
		protect(l, r, patch)
		makeRoom(l, patch)
	}
	return merge.Merge(left, right)
}

// clobber is a field that Talos' merge overwrites with nothing when a patch
// sets something beside it: CEL expressions, sizes, plain booleans, and the two
// halves of a certificate with its key (talos-1.14 in the reference, upstream
// defects).
type clobber struct {
	path  yamltext.Path
	steps []int // field indexes from the document
}

// merges is what types implement that bring their own merge.
type merges interface{ Merge(other any) error }

var (
	mergesType = reflect.TypeFor[merges]()
	keyPair    = reflect.TypeFor[x509.PEMEncodedCertificateAndKey]()
	clobbers   sync.Map // reflect.Type of a document → []clobber
)

// clobbersOf finds the fields of a document's type that its merge may clobber.
func clobbersOf(t reflect.Type) []clobber {
	if known, ok := clobbers.Load(t); ok {
		return known.([]clobber) // only these are stored
	}
	f := clobberFinder{open: map[reflect.Type]bool{}}
	f.walk(t, nil, nil)
	known, _ := clobbers.LoadOrStore(t, f.found)
	return known.([]clobber) // only these are stored
}

type clobberFinder struct {
	found []clobber
	open  map[reflect.Type]bool // types on the way down, against recursion
}

// walk looks at structs below structs only. Lists are appended to, and values
// of maps replaced whole, or hold none of these types (a test sees to that).
func (f *clobberFinder) walk(t reflect.Type, path yamltext.Path, steps []int) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Bool, t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(mergesType):
		f.found = append(f.found, clobber{slices.Clone(path), slices.Clone(steps)})
		return
	case t == keyPair:
		for i := range t.NumField() {
			key := strings.ToLower(t.Field(i).Name)
			f.found = append(f.found, clobber{append(slices.Clone(path), yamltext.Key(key)), append(slices.Clone(steps), i)})
		}
		return
	case t.Kind() != reflect.Struct || f.open[t]:
		return
	}
	f.open[t] = true
	defer delete(f.open, t)
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		below := path
		switch {
		case !field.IsExported() || field.Type.Kind() == reflect.Pointer && isSingle(field.Type.Elem()):
			continue // Talos' merge does not overwrite with a nil pointer
		case strings.Contains(options, "inline"):
		case name == "" || name == "-":
			continue
		default:
			below = append(path[:len(path):len(path)], yamltext.Key(name))
		}
		f.walk(field.Type, below, append(steps[:len(steps):len(steps)], i))
	}
}

// isSingle reports whether a type holds a single value, as opposed to a struct
// whose fields are merged.
func isSingle(t reflect.Type) bool {
	return t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(mergesType)
}

// protect gives a document that is about to be merged into another the values
// of that one which the merge would clobber, though the patch does not mention
// them.
func protect(left, right reflect.Value, patch *yaml.Node) {
	for _, c := range clobbersOf(left.Type()) {
		from, to := fieldAt(left, c.steps), fieldAt(right, c.steps)
		if !from.IsValid() || !to.IsValid() || from.IsZero() || !isEmpty(to) || mentions(patch, c.path) {
			continue
		}
		to.Set(from)
	}
}

// makeRoom clears single values that a patch is about to set. Talos' merge keeps
// them if their Go value in the patch is zero (the first word of an enumeration,
// a percentage as a size), mixes them with the new value (URLs: the password of
// one with the host of the other), or fails (sizes of disks). Values that say
// nothing in YAML too are left to the merge.
func makeRoom(left reflect.Value, patch *yaml.Node) {
	left = reflect.Indirect(left)
	if left.Kind() != reflect.Struct || patch.Kind != yaml.MappingNode {
		return
	}
	fields := fieldsOf(left.Type())
	for i := 0; i+1 < len(patch.Content); i += 2 {
		f, ok := fields[patch.Content[i].Value]
		if !ok {
			continue
		}
		to, err := left.FieldByIndexErr(f.index)
		value := patch.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		switch {
		case err != nil: // in an embedded struct that is not there
		case to.Kind() == reflect.Slice && to.Type().Elem().Kind() != reflect.Uint8: // lists are appended to
		case value.Kind == yaml.ScalarNode && !isZeroScalar(value):
			to.SetZero()
		case value.Kind == yaml.MappingNode:
			makeRoom(to, value)
		}
	}
}

// isEmpty reports whether a field says nothing; the halves of a key pair are
// empty, but not nil, if they are not in the YAML.
func isEmpty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// fieldAt follows field indexes; the result is invalid if a pointer on the way
// is nil.
func fieldAt(v reflect.Value, steps []int) reflect.Value {
	for i := 0; ; i++ {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}
			}
			v = v.Elem()
		}
		if i == len(steps) {
			return v
		}
		v = v.Field(steps[i])
	}
}
