package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

const referenceHead = `<!-- Generated from schemas/cluster.go by go generate ./schemas. -->

# cluster.yaml

` + "`envs/<env>/cluster.yaml`" + ` describes one environment. Unknown keys are errors. Any
value may hold variables of ` + "`cluster.env`, written `${NAME}` or `${NAME:-default}`" + `,
but no secret ones: what stands here ends up in names and in readable files.

An editor with a YAML language server checks and completes the file if its
first line is

` + "```yaml" + `
# yaml-language-server: $schema=../../schemas/cluster.schema.json
` + "```" + `

` + "`talosgen schema`" + ` prints that schema.

An option that is marked as not in effect yet, or as of no effect, is read and
checked, and a render that finds it set warns.
`

// reference is the page that lists every option below the object root.
func reference(m model, root string) ([]byte, error) {
	for _, option := range schemas.NotYet {
		if !m.has(root, option) {
			return nil, fmt.Errorf("NotYet: there is no option %s", option)
		}
	}
	p := page{model: m, seen: map[string]string{}}
	p.b.WriteString(referenceHead)
	if err := p.object("", root); err != nil {
		return nil, err
	}
	if err := p.counterparts(root); err != nil {
		return nil, err
	}
	return []byte(p.b.String()), nil
}

type page struct {
	model model
	b     strings.Builder
	seen  map[string]string // where an object was described
}

// object writes the options of an object at a path, then those below it.
func (p *page) object(path, name string) error {
	fields, err := p.model.flat(name)
	if err != nil {
		return err
	}
	p.seen[name] = path
	for _, f := range fields {
		if err := p.option(path+f.key, f); err != nil {
			return err
		}
	}
	return nil
}

func (p *page) option(path string, f field) error {
	plain := strings.NewReplacer("[]", "", ".<name>", "").Replace(path)
	switch {
	case f.typ.list:
		path += "[]"
	case f.typ.mapping && f.typ.object != "":
		path += ".<name>"
	}
	level := "###"
	if !strings.Contains(plain, ".") {
		level = "##"
	}
	fmt.Fprintf(&p.b, "\n%s `%s`\n\n%s\n\n", level, path, f.doc)
	kind, err := typeWords(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(&p.b, "- Type: %s\n", kind)
	fmt.Fprintf(&p.b, "- Default: %s\n", defaultWords(f))
	if example, _ := schemas.Tag(f.tags, "example"); example != "" {
		fmt.Fprintf(&p.b, "- Example: `%s: %s`\n", f.key, example)
	}
	if why := schemas.NoEffect[plain]; why != "" {
		p.b.WriteString("- No effect: " + why + "\n")
	} else if schemas.IsNotYet(plain) {
		p.b.WriteString("- Not in effect yet\n")
	}
	if f.typ.object == "" {
		return nil
	}
	if there, ok := p.seen[f.typ.object]; ok {
		fmt.Fprintf(&p.b, "- Options: those of `%s`\n", strings.TrimSuffix(there, "."))
		return nil
	}
	return p.object(path+".", f.typ.object)
}

func typeWords(f field) (string, error) {
	form := ""
	if name := f.tags.Get("format"); name != "" {
		format, ok := schemas.FormatOf(name)
		if !ok {
			return "", fmt.Errorf("unknown format %q", name)
		}
		form = ", " + format.Meaning
	}
	if enum := f.tags.Get("enum"); enum != "" {
		words := "`" + strings.ReplaceAll(enum, ",", "` or `") + "`"
		if f.typ.list {
			return "list; each " + words, nil
		}
		return words, nil
	}
	one := cmp.Or(map[string]string{"string": "text", "int": "number", "bool": "`true` or `false`"}[f.typ.scalar], "mapping")
	if f.typ.tree {
		return "mapping of anything", nil
	}
	if f.typ.scalar == "int" {
		form = fmt.Sprintf(", %s to %s", f.tags.Get("min"), f.tags.Get("max"))
	}
	switch {
	case f.typ.list:
		return "list; each a " + one + form, nil
	case f.typ.mapping:
		return "mapping from text to " + one + form, nil
	}
	return one + form, nil
}

func defaultWords(f field) string {
	if f.tags.Get("required") == "true" {
		return "none, it is required"
	}
	if text, ok := schemas.Tag(f.tags, "default"); ok {
		return "`" + text + "`"
	}
	return cmp.Or(f.tags.Get("otherwise"), "none")
}
