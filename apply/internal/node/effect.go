package node

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// Differences are the places in which Talos reads other values from one configuration
// than from another, as K8sKubeletConfig.Image: whatever documents they stand in. They
// name no values, which may be secret. Talos is the newest one that is known.
func Differences(a, b secret.String) (places []string, err error) {
	of, err := effect(a)
	if err != nil {
		return nil, err
	}
	to, err := effect(b)
	if err != nil {
		return nil, err
	}
	if a.Reveal() == b.Reveal() {
		return nil, nil
	}
	return differing(of, to), nil
}

// unasked stands for the value of a place that panics when it is asked.
const unasked = "cannot be asked"

// differing are the places with other values. One that cannot be asked may have
// another value, so it counts.
func differing(of, to map[string]string) (places []string) {
	for _, place := range slices.Sorted(maps.Keys(maps.Collect(both(of, to)))) {
		if of[place] != to[place] || of[place] == unasked {
			places = append(places, place)
		}
	}
	return places
}

// both are the places of two effects.
func both(a, b map[string]string) func(func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		for _, m := range []map[string]string{a, b} {
			for place := range m {
				if !yield(place, true) {
					return
				}
			}
		}
	}
}

// effect is what Talos reads from a configuration, by place: a digest of each value.
func effect(text secret.String) (map[string]string, error) {
	loaded, err := configloader.NewFromBytes([]byte(text.Reveal()))
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // what follows quotes the configuration
		return nil, diag.On("configuration", "Talos cannot read it: %s", strings.TrimSuffix(first, ":"))
	}
	r := reader{}
	r.read("", reflect.ValueOf(loaded), reflect.TypeFor[config.Config](), 0)
	r.encryption(loaded)
	return r, nil
}

// encryption notes how secrets in etcd are encrypted by a configuration that only names
// the keys: Talos writes the rest of it, in this order and with these names.
func (r reader) encryption(c config.Config) {
	if c.Cluster() == nil || c.K8sEtcdEncryptionConfig() != nil {
		return
	}
	const all = "K8sEtcdEncryptionConfig.EtcdEncryptionConfig[resources][0]"
	count := 0
	for _, key := range [][3]string{{"secretbox", "key2", c.Cluster().SecretboxEncryptionSecret()}, {"aescbc", "key1", c.Cluster().AESCBCEncryptionSecret()}} {
		if key[2] == "" {
			continue
		}
		in := fmt.Sprintf("%s[providers][%d][%s][keys][0]", all, count, key[0])
		r.note(in+"[name]", reflect.ValueOf(key[1]))
		r.note(in+"[secret]", reflect.ValueOf(key[2]))
		r.note(all+"[resources][0]", reflect.ValueOf("secrets"))
		count++
	}
}

// reader asks a configuration for everything that it has to tell, as Talos does.
type reader map[string]string

// deepest is how many questions lie in each other. What is deeper is compared as a whole.
const deepest = 100

func (r reader) read(place string, v reflect.Value, as reflect.Type, depth int) {
	switch {
	case !v.IsValid():
	case depth > deepest:
		r.note(place, v)
	case as.Kind() == reflect.Interface && as.NumMethod() > 0 && as != reflect.TypeFor[error]() && as != reflect.TypeFor[fmt.Stringer]():
		r.ask(place, v, as, depth)
	case v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			r.read(place, v.Elem(), v.Elem().Type(), depth+1)
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		for i := range v.Len() {
			r.read(fmt.Sprintf("%s[%d]", place, i), v.Index(i), v.Type().Elem(), depth+1)
		}
	case v.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			r.read(fmt.Sprintf("%s[%v]", place, key), v.MapIndex(key), v.Type().Elem(), depth+1)
		}
	case !v.IsZero():
		r.note(place, v)
	}
}

// note notes a value by its digest.
func (r reader) note(place string, v reflect.Value) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%v", v))
	r[place] = hex.EncodeToString(sum[:])
}

// ask calls all methods of an interface that take nothing.
func (r reader) ask(place string, v reflect.Value, as reflect.Type, depth int) {
	if (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && v.IsNil() {
		return
	}
	for i := range as.NumMethod() {
		m := as.Method(i)
		if m.Type.NumIn() > 0 || m.Type.NumOut() != 1 {
			continue
		}
		in := strings.TrimPrefix(place+"."+m.Name, ".")
		func() {
			defer func() {
				if recover() != nil {
					r[in] = unasked
				}
			}()
			r.read(in, v.MethodByName(m.Name).Call(nil)[0], m.Type.Out(0), depth+1)
		}()
	}
}
