package options

import (
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// places gives values of cluster.yaml the places where the file sets them. A
// value is named by its field, as in text(&config.Kubernetes.Proxy.Mode): what
// it is called in the file, package schemas knows alone.
type places struct{ config *config.Config }

// said is a value that follows from a field, or from what keys below it lead to.
func (c places) said(value string, field any, below ...string) machine.Option {
	return machine.Option{Value: value, Pos: c.config.At(field, below...)}
}

func (c places) text(field *string) machine.Option { return c.said(*field, field) }
func (c places) number(field *int) machine.Option  { return c.said(strconv.Itoa(*field), field) }
func (c places) boolean(field *bool) machine.Option {
	return c.said(strconv.FormatBool(*field), field)
}

// on is "true" with the place of a field if that is true, off if it is false;
// else nothing.
func (c places) on(field *bool) machine.Option  { return c.truth(*field, field) }
func (c places) off(field *bool) machine.Option { return c.truth(!*field, field) }

// truth is "true" with the place of a field, or nothing.
func (c places) truth(value bool, field any) machine.Option {
	if !value {
		return machine.Option{}
	}
	return c.said("true", field)
}

// texts are the items of a list with their places; the list's if the file does
// not have the items.
func (c places) texts(field *[]string) []machine.Option {
	var list []machine.Option
	for i, value := range *field {
		o := c.said(value, field, strconv.Itoa(i))
		if o.Pos.Line == 0 {
			o.Pos = c.config.At(field)
		}
		list = append(list, o)
	}
	return list
}

// mapping is a map of values with their places.
func (c places) mapping(field *map[string]string) machine.OptionMap {
	all := machine.OptionMap{}
	for key, value := range *field {
		all[key] = c.said(value, field, key)
	}
	return all
}

// firstPos is the place of the first of several fields that the file sets.
func (c places) firstPos(fields ...any) (pos diag.Pos) {
	for _, field := range fields {
		if pos = c.config.At(field); pos.Line > 0 {
			break
		}
	}
	return pos
}

// itemPos is the place of an item of a list, else of the list, else of another
// field that it follows from.
func (c places) itemPos(list *[]string, index int, otherwise any) diag.Pos {
	if pos := c.config.At(list, strconv.Itoa(index)); pos.Line > 0 {
		return pos
	}
	return c.firstPos(list, otherwise)
}

// each makes an option of each item of a list.
func each[T, O any](items []T, option func(item *T) O) []O {
	var all []O
	for i := range items {
		all = append(all, option(&items[i]))
	}
	return all
}
