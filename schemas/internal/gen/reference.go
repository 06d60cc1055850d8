package main

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/talosgen/talosgen/schemas"
)

const generatedMark = "<!-- Generated from schemas/cluster.go by go generate ./schemas. -->\n"

const referenceHead = generatedMark + `
# cluster.yaml

` + "`envs/<env>/cluster.yaml`" + ` describes one environment. Unknown keys are errors. Any
value may hold variables of ` + "`cluster.env`, written `${NAME}` or `${NAME:-default}`" + `,
but no secret ones: what stands here ends up in names and in readable files.

[An editor](../how-to/editors.md) checks and completes the file by its schema, which
` + "`talosgen schema`" + ` prints.

An option that is marked as not in effect yet, or as of no effect, is read and
checked, and a render that finds it set warns.
`

// sectionOptions is how many options a key of cluster.yaml has that gets a page of its
// own; what has fewer stands on the first page.
const sectionOptions = 3

// pages are the pages of the reference by their paths, from its folder: the first one,
// one for each section of cluster.yaml, and the table of another tool's options.
func pages(m model, root string) (map[string][]byte, error) {
	for _, option := range schemas.NotYet {
		if !m.has(root, option) {
			return nil, fmt.Errorf("NotYet: there is no option %s", option)
		}
	}
	w := writer{model: m, pages: map[string]*strings.Builder{}, described: map[string]string{}, headings: map[string]string{}}
	if err := w.sections(root); err != nil {
		return nil, err
	}
	if err := w.counterparts(root); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for file, b := range w.pages {
		out[file] = []byte(b.String())
	}
	return out, nil
}

const firstPage = "cluster.md"

// sectionPage is the page of a key of cluster.yaml.
func sectionPage(key string) string { return "cluster/" + key + ".md" }

// writer writes the pages of the reference, one after the other.
type writer struct {
	model     model
	pages     map[string]*strings.Builder
	file      string            // the page that is written
	b         *strings.Builder  // its text
	described map[string]string // the heading where an object was described, by its type
	headings  map[string]string // the heading of an option, by its path without elements
}

func (w *writer) open(file, head string) {
	if w.pages[file] == nil {
		w.pages[file] = &strings.Builder{}
		w.pages[file].WriteString(head)
	}
	w.file, w.b = file, w.pages[file]
}

// sections writes the first page, and those of the sections.
func (w *writer) sections(root string) error {
	fields, err := w.model.flat(root)
	if err != nil {
		return err
	}
	w.open(firstPage, referenceHead)
	var own []field
	for _, f := range fields {
		n, err := w.count(f.typ.object)
		if err != nil {
			return err
		}
		if n >= sectionOptions {
			own = append(own, f)
		} else if err := w.option("##", f.key, f); err != nil {
			return err
		}
	}
	for _, f := range own {
		if err := w.section(f); err != nil {
			return err
		}
	}
	return nil
}

// section writes the page of a key, and what the first page says of it.
func (w *writer) section(f field) error {
	inner, err := w.model.flat(f.typ.object)
	if err != nil {
		return err
	}
	path := pathOf(f.key, f)
	w.open(firstPage, "")
	fmt.Fprintf(w.b, "\n## `%s`\n\n%s [Its page](%s) has:\n\n", path, prose(f.doc), sectionPage(f.key))
	for i, option := range inner {
		if i > 0 {
			w.b.WriteString(",\n")
		}
		w.b.WriteString(w.link(option.key, pathOf(path+"."+option.key, option)))
	}
	w.b.WriteString("\n")
	w.open(sectionPage(f.key), generatedMark)
	return w.option("#", f.key, f)
}

// count is how many options are below an object, at all depths.
func (w *writer) count(object string) (n int, err error) {
	if object == "" {
		return 0, nil
	}
	fields, err := w.model.flat(object)
	if err != nil {
		return 0, err
	}
	for _, f := range fields {
		below, err := w.count(f.typ.object)
		if err != nil {
			return 0, err
		}
		n += 1 + below
	}
	return n, nil
}

// pathOf is how a heading names an option: with what stands for the elements of lists
// and mappings.
func pathOf(path string, f field) string {
	switch {
	case f.typ.list:
		return path + "[]"
	case f.typ.mapping && f.typ.object != "":
		return path + ".<name>"
	}
	return path
}

// plain is the path of an option without elements.
func plain(path string) string { return strings.NewReplacer("[]", "", ".<name>", "").Replace(path) }

// option writes an option under a heading of a level, then those below it.
func (w *writer) option(level, path string, f field) error {
	path = pathOf(path, f)
	w.headings[plain(path)] = path
	fmt.Fprintf(w.b, "\n%s `%s`\n\n%s\n\n", level, path, prose(f.doc))
	kind, err := typeWords(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(w.b, "- Type: %s\n", prose(kind))
	fmt.Fprintf(w.b, "- Default: %s\n", prose(defaultWords(f)))
	if example, _ := schemas.Tag(f.tags, "example"); example != "" {
		fmt.Fprintf(w.b, "- Example: `%s: %s`\n", f.key, example)
	}
	if why := schemas.NoEffect[plain(path)]; why != "" {
		w.b.WriteString("- No effect: " + why + "\n")
	} else if schemas.IsNotYet(plain(path)) {
		w.b.WriteString("- Not in effect yet\n")
	}
	if f.typ.object == "" {
		return nil
	}
	if there, ok := w.described[f.typ.object]; ok {
		fmt.Fprintf(w.b, "- Options: those of %s\n", w.link(there, there))
		return nil
	}
	w.described[f.typ.object] = path
	return w.below(level, path, f.typ.object)
}

// below writes the options of an object. A page has headings of three levels.
func (w *writer) below(level, path, object string) error {
	fields, err := w.model.flat(object)
	if err != nil {
		return err
	}
	if level != "###" {
		level += "#"
	}
	for _, f := range fields {
		if err := w.option(level, path+"."+f.key, f); err != nil {
			return err
		}
	}
	return nil
}

// prose is a text in which what stands between < and > is not read as HTML, which is not shown.
func prose(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 { // the others are code
		parts[i] = strings.ReplaceAll(parts[i], "<", `\<`)
	}
	return strings.Join(parts, "`")
}

// link is a link with a text to the heading of an option.
func (w *writer) link(text, heading string) string {
	key, _, _ := strings.Cut(plain(heading), ".")
	target := firstPage
	if _, ok := w.pages[sectionPage(key)]; ok || w.file == firstPage {
		target = sectionPage(key)
	}
	switch {
	case target == w.file:
		target = ""
	case strings.HasPrefix(w.file, "cluster/"):
		target = strings.TrimPrefix("../"+target, "../cluster/")
	}
	return fmt.Sprintf("[`%s`](%s#%s)", text, target, anchor(heading))
}

// anchor is the name that GitHub gives a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
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
