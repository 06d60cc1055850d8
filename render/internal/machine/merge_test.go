package machine

import (
	"encoding"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/merge"
	"github.com/siderolabs/talos/pkg/machinery/config/types/block"
	"go.yaml.in/yaml/v4"
)

func reflectType(d config.Document) reflect.Type { return reflect.TypeOf(d).Elem() }

// fragile are the types that Talos' merge overwrites with nothing, with a text
// of theirs that is a value.
var fragile = map[reflect.Type]string{
	reflect.TypeFor[cel.Expression]():       "1 == 1",
	reflect.TypeFor[block.ByteSize]():       "10GiB",
	reflect.TypeFor[block.PercentageSize](): "50%",
	reflect.TypeFor[bool]():                 "true",
	keyPair:                                 "",
}

// fragilePlaces walks all of a type and lists where fragile fields are, by the
// path of their keys; [] stands for the items of a list, {} for the values of a map.
func fragilePlaces(t reflect.Type, path string, open []reflect.Type) []string {
	if t.Kind() == reflect.Pointer && isSingle(t.Elem()) {
		return nil // a nil pointer does not overwrite
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, is := fragile[t]; is {
		return []string{strings.TrimPrefix(path, ".")}
	}
	if u := reflect.PointerTo(t); u.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) || t == reflect.TypeFor[url.URL]() {
		return nil // one value in YAML
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return fragilePlaces(t.Elem(), path+"[]", open)
	case reflect.Map:
		return fragilePlaces(t.Elem(), path+"{}", open)
	case reflect.Struct:
	default:
		return nil
	}
	if slices.Contains(open, t) {
		return nil
	}
	var places []string
	for key, f := range fieldsOf(t) {
		places = append(places, fragilePlaces(f.Type, path+"."+key, append(open, t))...)
	}
	slices.Sort(places)
	return places
}

// TestFragileFieldsAreProtected looks at every kind of document for the types
// that Talos' merge clobbers, so that none is missed when the library grows.
// What is in a list or a map is not protected: lists are appended to, and those
// below are the ones that the merge goes into by key.
func TestFragileFieldsAreProtected(t *testing.T) {
	known := []string{
		"EthernetConfig features{}",                               // a map of booleans: the merge looks at those that a patch has
		"v1alpha1 machine.registries.config{}.tls.clientIdentity", // legacy: RegistryTLSConfig since 1.13
	}
	found := 0
	for id, doc := range everyKind(t) {
		var protected []string
		for _, c := range clobbersOf(reflect.TypeOf(doc)) {
			protected = append(protected, c.path.String())
		}
		for _, place := range fragilePlaces(reflectType(doc), "", nil) {
			found++
			switch {
			case strings.Contains(place, "[]"), slices.Contains(known, id.Kind+" "+place):
			case slices.Contains(protected, place), slices.Contains(protected, place+".crt") && slices.Contains(protected, place+".key"):
			default:
				t.Errorf("%s %s is not protected", id, place)
			}
		}
	}
	if found < 25 {
		t.Errorf("only %d fragile fields found", found)
	}
}

// setFragile gives a field a value.
func setFragile(t *testing.T, v reflect.Value) {
	t.Helper()
	text := fragile[v.Type()]
	switch u := v.Addr().Interface().(type) {
	case *bool:
		*u = true
	case *[]byte:
		*u = []byte("not a real one")
	case encoding.TextUnmarshaler:
		if err := u.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
	default:
		if err := yaml.Unmarshal([]byte(text), u); err != nil {
			t.Fatal(err)
		}
	}
}

// allocate makes the structs on the way to a field.
func allocate(v reflect.Value, steps []int) reflect.Value {
	for _, i := range steps {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// TestMergeKeeps: a patch that does not mention a fragile value keeps it, for
// every field of every kind; and one that mentions it changes it.
func TestMergeKeeps(t *testing.T) {
	lostByTalos := 0
	for _, k := range registeredKinds(t) {
		typ := func() config.Document {
			doc, err := newTyped(kind(k))
			if err != nil {
				t.Fatal(err)
			}
			return doc
		}
		for _, c := range clobbersOf(reflect.TypeOf(typ())) {
			left, right, upstream := typ(), typ(), typ()
			setFragile(t, allocate(reflect.ValueOf(left), c.steps))
			setFragile(t, allocate(reflect.ValueOf(upstream), c.steps))
			allocate(reflect.ValueOf(right), c.steps)
			if err := merge.Merge(upstream, clone(right)); err != nil {
				t.Fatal(err)
			}
			if fieldAt(reflect.ValueOf(upstream), c.steps).IsZero() {
				lostByTalos++
			}
			want := fieldAt(reflect.ValueOf(clone(left)), c.steps).Interface()
			if err := mergeTyped(left, right, &yaml.Node{Kind: yaml.MappingNode}); err != nil {
				t.Fatal(err)
			}
			if have := fieldAt(reflect.ValueOf(left), c.steps).Interface(); !reflect.DeepEqual(have, want) {
				t.Errorf("%s loses %s", k, c.path)
			}
		}
	}
	if lostByTalos < 20 {
		t.Errorf("Talos' merge loses %d of them; if that is mended upstream, merge.go can go", lostByTalos)
	}
}

// TestMergeSets: single values that a patch sets arrive as they are, also those
// that Talos' merge would mix with what is there, or take for not set.
func TestMergeSets(t *testing.T) {
	base := testBase(t, "v1.14", Worker)
	const volume = "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\n"
	const log = "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: remote\n"
	for _, c := range []struct {
		lower, upper string
		id           ID
		at, want     string
	}{
		{log + "url: https://user:not-a-real-one@a.example.org/x?token=y\n", log + "url: tcp://10.0.0.9:5140\n", ID{mainKind, "KmsgLogConfig", "remote"}, "url", "tcp://10.0.0.9:5140"},
		{log + "url: https://user:not-a-real-one@a.example.org\n", log + "url: https://other:nor-this@b.example.org\n", ID{mainKind, "KmsgLogConfig", "remote"}, "url", "https://other:nor-this@b.example.org"},
		{volume + "provisioning: {maxSize: 10GiB}\n", volume + "provisioning: {maxSize: 50%}\n", ID{mainKind, "UserVolumeConfig", "data"}, "provisioning.maxSize", "50%"},
		{volume + "provisioning: {maxSize: 50%}\n", volume + "provisioning: {maxSize: 10GiB}\n", ID{mainKind, "UserVolumeConfig", "data"}, "provisioning.maxSize", "10GiB"},
		{volume + "provisioning: {minSize: 1GiB, diskSelector: {match: system_disk}}\n", volume + "provisioning: {minSize: 2GiB}\n", ID{mainKind, "UserVolumeConfig", "data"}, "provisioning.minSize", "2GiB"},
		{volume + "provisioning: {minSize: 1GiB, diskSelector: {match: system_disk}}\n", volume + "provisioning: {minSize: 2GiB}\n", ID{mainKind, "UserVolumeConfig", "data"}, "provisioning.diskSelector.match", "system_disk"},
		{"apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: block\n", "apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: accept\n", kind("NetworkDefaultActionConfig"), "ingress", "accept"},
		{"machine: {install: {diskSelector: {size: '>= 100GB'}}}\n", "machine: {install: {diskSelector: {size: '< 2TB'}}}\n", MainID, "machine.install.diskSelector.size", "< 2TB"},
	} {
		cfg := mustApply(t, base, c.lower, c.upper)
		if have := valueOf(t, cfg, c.id, c.at); have != c.want {
			t.Errorf("%s over %s: %s is %v", c.upper, c.lower, c.at, have)
		}
	}
}

// TestMergeErrorsHoldNoValues: what the library says of values that it cannot
// merge may hold them.
func TestMergeErrorsHoldNoValues(t *testing.T) {
	_, _, err := applyTexts(testBase(t, "v1.13", Worker),
		"machine: {kubelet: {extraConfig: {a: marker-one}}}", "machine: {kubelet: {extraConfig: {a: [marker-two]}}}")
	if err == nil || strings.Contains(err.Error(), "marker") {
		t.Errorf("error is %v", err)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "2.yaml:1:1: Talos cannot merge this into v1alpha1: ") {
		t.Errorf("error is %v", err)
	}
}
