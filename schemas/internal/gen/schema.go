package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

type dict = map[string]any

// variable is the definition of a text with a variable in it, which can stand
// for any scalar.
const variable = "Variable"

// jsonSchema describes the object root and everything below it.
func jsonSchema(m model, root string) ([]byte, error) {
	defs := dict{variable: dict{
		"description": "A value with a variable of cluster.env in it.",
		"type":        "string",
		"pattern":     `\$\{[A-Za-z_]`,
	}}
	if err := addDefinition(m, root, defs); err != nil {
		return nil, err
	}
	top := defs[root].(dict)
	delete(defs, root)
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["title"] = "cluster.yaml"
	top["$defs"] = defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(top)
	return b.Bytes(), err
}

func addDefinition(m model, name string, defs dict) error {
	if _, ok := defs[name]; ok {
		return nil
	}
	fields, err := m.flat(name)
	if err != nil {
		return err
	}
	properties := dict{}
	required := []string{}
	defs[name] = dict{
		"description":          m[name].doc,
		"type":                 "object",
		"additionalProperties": false,
		"properties":           properties,
	}
	for _, f := range fields {
		p, err := property(f)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, f.key, err)
		}
		properties[f.key] = p
		if f.tags.Get("required") == "true" {
			required = append(required, f.key)
		}
		if f.typ.object != "" {
			if err := addDefinition(m, f.typ.object, defs); err != nil {
				return err
			}
		}
	}
	if len(required) > 0 {
		defs[name].(dict)["required"] = required
	}
	return nil
}

// property describes one key.
func property(f field) (dict, error) {
	value, err := valueSchema(f)
	if err != nil {
		return nil, err
	}
	switch {
	case f.typ.list:
		value = dict{"type": "array", "items": value}
	case f.typ.mapping:
		value = dict{"type": "object", "additionalProperties": value}
		if name := f.tags.Get("keyFormat"); name != "" {
			pattern, err := patternOf(name)
			if err != nil {
				return nil, err
			}
			value["propertyNames"] = orVariable(dict{"pattern": pattern})
		}
	}
	value["description"] = f.doc
	if text, ok := schemas.Tag(f.tags, "default"); ok {
		value["default"] = text
		if !f.isText() {
			if value["default"], err = valueOf(f, text); err != nil {
				return nil, err
			}
		}
	}
	if text, _ := schemas.Tag(f.tags, "example"); text != "" {
		example, err := valueOf(f, text)
		if err != nil {
			return nil, err
		}
		value["examples"] = []any{example}
	}
	return value, nil
}

func (f field) isText() bool {
	return f.typ.scalar == "string" && !f.typ.list && !f.typ.mapping
}

// valueOf reads the YAML in a tag. A text is a text, whatever it looks like.
func valueOf(f field, text string) (value any, err error) {
	if f.isText() {
		var s string
		err = yaml.Unmarshal([]byte(text), &s)
		return s, err
	}
	err = yaml.Unmarshal([]byte(text), &value)
	return value, err
}

// valueSchema describes the value of a key, or one value of several.
func valueSchema(f field) (dict, error) {
	switch {
	case f.typ.object != "":
		return dict{"$ref": "#/$defs/" + f.typ.object}, nil
	case f.typ.tree:
		return dict{"type": "object"}, nil
	}
	value, err := scalarSchema(f)
	if err != nil {
		return nil, err
	}
	return orVariable(value), nil
}

// orVariable describes a value, or a text with a variable in its place.
func orVariable(value dict) dict {
	return dict{"anyOf": []any{value, dict{"$ref": "#/$defs/" + variable}}}
}

func patternOf(format string) (string, error) {
	f, ok := schemas.FormatOf(format)
	if !ok {
		return "", fmt.Errorf("unknown format %q", format)
	}
	return f.Pattern, nil
}

func scalarSchema(f field) (dict, error) {
	switch f.typ.scalar {
	case "bool":
		return dict{"type": "boolean"}, nil
	case "int":
		value := dict{"type": "integer"}
		for tag, keyword := range map[string]string{"min": "minimum", "max": "maximum"} {
			limit, err := strconv.Atoi(f.tags.Get(tag))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", tag, err)
			}
			value[keyword] = limit
		}
		return value, nil
	}
	if enum := f.tags.Get("enum"); enum != "" {
		return dict{"enum": strings.Split(enum, ",")}, nil
	}
	// What YAML takes for a number or a boolean is a text here, quoted or not.
	value := dict{"type": []string{"string", "number", "boolean"}}
	if name := f.tags.Get("format"); name != "" {
		pattern, err := patternOf(name)
		if err != nil {
			return nil, err
		}
		value["pattern"] = pattern
	}
	return value, nil
}
