package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// scalar reads a text, a number or a boolean, and tells whether it could.
func (d *decoder) scalar(n *yaml.Node, f reflect.StructField, out reflect.Value, path []string) bool {
	if d.skip[n] {
		return false
	}
	if n.Kind != yaml.ScalarNode {
		d.fail(n, exampleHint(f), "%s must be a %s, not %s", display(path), wordFor(out.Kind()), kindOf(n))
		return false
	}
	switch out.Kind() {
	case reflect.Bool:
		return d.boolean(n, out, path)
	case reflect.Int:
		return d.number(n, f, out, path)
	default:
		return d.text(n, f, out, path)
	}
}

func (d *decoder) boolean(n *yaml.Node, out reflect.Value, path []string) bool {
	if n.ShortTag() != "!!bool" {
		d.fail(n, unquoteHint(n, "true", "false"), "%s must be true or false, not %s", display(path), kindOf(n))
		return false
	}
	out.SetBool(strings.EqualFold(n.Value, "true"))
	return true
}

func (d *decoder) number(n *yaml.Node, f reflect.StructField, out reflect.Value, path []string) bool {
	value, err := strconv.Atoi(n.Value)
	// YAML reads 010 as eight; nobody means that.
	plain := err == nil && strconv.Itoa(value) == n.Value
	if n.ShortTag() != "!!int" || !plain {
		hint := ""
		if plain {
			hint = unquoteHint(n, n.Value)
		}
		d.fail(n, hint, "%s must be a whole number, not %s", display(path), kindOf(n))
		return false
	}
	lowest, _ := strconv.Atoi(f.Tag.Get("min"))
	highest, _ := strconv.Atoi(f.Tag.Get("max"))
	if value < lowest || value > highest {
		d.fail(n, "", "%s must be between %d and %d, not %d", display(path), lowest, highest, value)
		return false
	}
	out.SetInt(int64(value))
	return true
}

// text reads a text. What YAML takes for a number, a boolean or a date is a
// text here too, as it is written.
func (d *decoder) text(n *yaml.Node, f reflect.StructField, out reflect.Value, path []string) bool {
	if tag := n.ShortTag(); !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp"}, tag) {
		d.fail(n, "", "%s must be a text, without the tag %s", display(path), tag)
		return false
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		values := strings.Split(enum, ",")
		if !slices.Contains(values, n.Value) {
			d.fail(n, diag.Suggest(n.Value, values), "%s must be %s, not %q", display(path), strings.Join(values, " or "), n.Value)
			return false
		}
	}
	value, complaint := checkFormat(f.Tag.Get("format"), n.Value)
	if complaint != "" {
		d.fail(n, "", "%s %s", display(path), complaint)
		return false
	}
	out.SetString(value)
	return true
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// kindOf names what a node is, without repeating it.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return n.Value
	case "!!null":
		return "nothing"
	default:
		return "the text " + strconv.Quote(n.Value)
	}
}

func wordFor(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "number"
	default:
		return "text"
	}
}

// unquoteHint explains why a text that looks right is none of the values.
func unquoteHint(n *yaml.Node, values ...string) string {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	if n.Style&quoted != 0 && slices.Contains(values, n.Value) {
		return "remove the quotes"
	}
	return ""
}
