package config

import (
	"reflect"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// fieldKey is a field of a configuration: where it is in memory, and what, as a
// struct and the first of its fields are at the same place.
type fieldKey struct {
	at   uintptr
	kind reflect.Type
}

// At is the place of a field of the cluster, given by its address, or of what
// the keys below it lead to, as of [Config.Pos]: At(&c.Talos.KubePrism.Port), or
// At(&c.Talos.Sysctls, "vm.swappiness"). Nodes of pools know their places
// themselves: see [Node.Pos].
func (c *Config) At(field any, below ...string) diag.Pos { return c.Pos(c.path(field, below)...) }

// NearField is [Config.Near] of a field, given by its address.
func (c *Config) NearField(field any) diag.Pos { return c.near(c.path(field, nil)) }

func (c *Config) path(field any, below []string) []string {
	v := reflect.ValueOf(field)
	path, known := c.fields()[fieldKey{v.Pointer(), v.Type()}]
	if !known {
		panic("no field of the cluster: " + v.Type().String())
	}
	return append(path[:len(path):len(path)], below...)
}

func (c *Config) listFields() map[fieldKey][]string {
	all := map[fieldKey][]string{}
	addFields(all, reflect.ValueOf(&c.Cluster).Elem(), nil)
	return all
}

// addFields notes the paths of all fields below a struct.
func addFields(all map[fieldKey][]string, in reflect.Value, path []string) {
	for _, f := range fieldsOf(in.Type()) {
		field, at := in.FieldByIndex(f.Index), sub(path, f.Tag.Get("yaml"))
		all[fieldKey{field.Addr().Pointer(), field.Addr().Type()}] = at
		switch {
		case f.Type == reflect.TypeFor[[]schemas.StaticNode]():
		case f.Type.Kind() == reflect.Struct:
			addFields(all, field, at)
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			for i := range field.Len() {
				addFields(all, field.Index(i), sub(at, strconv.Itoa(i)))
			}
		}
	}
}
