package config

import (
	"reflect"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
)

// switchRules look for sections of the file that are not in effect, since they are not
// enabled: whoever gives the type of a load balancer expects one.
type switchRules struct{ *reporter }

func (ch switchRules) check() { ch.below(reflect.ValueOf(&ch.Cluster).Elem(), nil) }

// below warns of the sections below a struct that the file gives without the key that
// enables them, where their default does not.
func (ch switchRules) below(in reflect.Value, path []string) {
	for _, f := range fieldsOf(in.Type()) {
		at := sub(path, f.Tag.Get("yaml"))
		if f.Type.Kind() != reflect.Struct || !ch.has(at...) || ch.isWrong(at) {
			continue
		}
		section := in.FieldByIndex(f.Index)
		if s, is := f.Type.FieldByName("Enabled"); is && !ch.has(sub(at, "enabled")...) && off(section.FieldByIndex(s.Index)) {
			ch.warn("write enabled: true, or remove "+f.Tag.Get("yaml")+"; the default is "+defaultOf(s), at, "%s is not enabled", display(at))
		}
		ch.below(section, at)
	}
}

// isWrong reports whether what the file gives is refused, such as a value where a section
// belongs.
func (ch switchRules) isWrong(at []string) bool {
	place := ch.near(at)
	return slices.ContainsFunc(*ch.problems, func(p *diag.Problem) bool { return p.Pos == place })
}

// off reports whether a switch is off by its default. One that is nil is decided later,
// by what it belongs to.
func off(enabled reflect.Value) bool {
	switch e := enabled.Interface().(type) {
	case bool:
		return !e
	case *bool:
		return e != nil && !*e
	}
	return false
}

// defaultOf says what a switch is without a value in the file.
func defaultOf(f reflect.StructField) string {
	if text, is := f.Tag.Lookup("otherwise"); is {
		return text
	}
	return f.Tag.Get("default")
}
