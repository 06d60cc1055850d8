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
		"description": "A value with a variable of cluster.env in it, or nothing: !delete stands alone.",
		"type":        []string{"string", "null"},
		"pattern":     `\$\{[A-Za-z_]|^$`,
	}}
	if err := addDefinition(m, root, defs, true); err != nil {
		return nil, err
	}
	required, err := requiredTree(m, root)
	if err != nil {
		return nil, err
	}
	// What a file with a base lacks, the base may have. The base itself is described by
	// the definition alone.
	top := dict{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "cluster.yaml",
		"$ref":    "#/$defs/" + root,
		"if":      dict{"not": dict{"required": []string{schemas.BaseKey}}},
		"then":    required,
		"$defs":   defs,
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(top)
	return b.Bytes(), err
}

// addDefinition describes an object, and everything below it. Of one that may be in parts,
// in a file and in its base, no key is required but the one that items are known by.
func addDefinition(m model, name string, defs dict, inParts bool) error {
	if known, ok := defs[name].(dict); ok {
		if inParts {
			delete(known, "required")
			setRequired(known, itemKey(name))
		}
		return nil
	}
	fields, err := m.flat(name)
	if err != nil {
		return err
	}
	properties := dict{}
	required := []string{}
	definition := orDeleted(dict{
		"description":          m[name].doc,
		"additionalProperties": false,
		"properties":           properties,
	}, "object")
	defs[name] = definition
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
			if err := addDefinition(m, f.typ.object, defs, inParts && f.meets()); err != nil {
				return err
			}
		}
	}
	if inParts {
		required = itemKey(name)
	}
	setRequired(definition, required)
	return nil
}

func setRequired(definition dict, keys []string) {
	if len(keys) > 0 {
		definition["required"] = keys
	}
}

// itemKey is the key that items of a type are known by, in a list; none for other types.
func itemKey(name string) []string {
	if key := schemas.ItemKeys[name]; key != "" {
		return []string{key}
	}
	return nil
}

// meets reports whether a value can be in parts: items that are added to a list are whole.
func (f field) meets() bool { return !f.typ.list || schemas.ItemKeys[f.typ.object] != "" }

// requiredTree describes what is required of an object that has no base, and of what is
// below it.
func requiredTree(m model, name string) (dict, error) {
	fields, err := m.flat(name)
	if err != nil {
		return nil, err
	}
	tree, properties, required := dict{}, dict{}, []string{}
	for _, f := range fields {
		if f.tags.Get("required") == "true" {
			required = append(required, f.key)
		}
		if f.typ.object == "" || !f.meets() {
			continue
		}
		below, err := requiredTree(m, f.typ.object)
		if err != nil {
			return nil, err
		}
		switch {
		case len(below) == 0:
		case f.typ.list:
			properties[f.key] = dict{"items": below}
		case f.typ.mapping:
			properties[f.key] = dict{"additionalProperties": below}
		default:
			properties[f.key] = below
		}
	}
	setRequired(tree, required)
	if len(properties) > 0 {
		tree["properties"] = properties
	}
	return tree, nil
}

// orDeleted is a schema of a type, or of what !delete without a value is: null, or for
// some editors an empty text.
func orDeleted(schema dict, kind string) dict {
	schema["type"] = []string{kind, "null", "string"}
	schema["maxLength"] = 0 // of a text
	return schema
}

// property describes one key.
func property(f field) (dict, error) {
	value, err := valueSchema(f)
	if err != nil {
		return nil, err
	}
	switch {
	case f.typ.list:
		value = orDeleted(dict{"items": value}, "array")
	case f.typ.mapping:
		value = orDeleted(dict{"additionalProperties": value}, "object")
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
		return orDeleted(dict{}, "object"), nil
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
