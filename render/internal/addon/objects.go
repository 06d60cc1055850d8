package addon

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// located is an object and the file that it came from.
type located struct {
	object manifest.Object
	file   string
}

const notes = "NOTES.txt" // what Helm prints after an installation

// objects reads what the templates wrote, and the files of crds/, which are no
// templates.
func (c *chart) objects(a catalogue.Addon, texts map[string]string) (Result, error) {
	var result Result
	var problems diag.List
	read := func(file, text, mark string) (objects []located) {
		all, warnings, err := manifest.ParseLoose(c.place(file)+mark, []byte(text))
		problems.AddErr(err)
		for _, w := range warnings {
			result.Warnings = append(result.Warnings, Warning{Message: w.Pos.String() + ": " + w.Message, Hint: w.Hint})
		}
		for _, o := range all {
			objects = append(objects, located{o, c.place(file)})
		}
		return objects
	}
	var all []located
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		if path.Base(file) != notes {
			all = append(all, read(file, asSent(texts[file]), " (rendered)")...)
		}
	}
	for _, crd := range c.CRDObjects() {
		all = append(all, read(crd.Filename, string(crd.File.Data), "")...)
	}
	if err := problems.Err(); err != nil {
		return Result{}, err
	}
	all, warnings := c.hooks(a, all)
	result.Warnings = append(result.Warnings, warnings...)
	for _, o := range all {
		result.Objects = append(result.Objects, o.object)
	}
	return result, nil
}

// glued is the mark between two documents with text right behind it, which
// trimming in templates leads to: Helm takes it for one.
var glued = regexp.MustCompile(`(?m)^---([^\s-])`)

// keeps is the head of a block of text that keeps all line ends behind it.
var keeps = regexp.MustCompile(`(?m)[|>][1-9]?\+[1-9]?[ \t]*(#.*)?$`)

// asSent is what templates wrote as Helm passes it on: with a line end behind
// each document, so that a block of text has its last one, though the template
// trimmed it; and what stands behind the mark of a document on a line of its own.
//
// Only a block that keeps all of them sees a line end that is not its first, so
// other texts are left as they are: the lines of their problems are the template's.
func asSent(text string) string {
	keeping := keeps.MatchString(text)
	if strings.Contains(text, "---") {
		text = glued.ReplaceAllString(text, "---\n$1")
		if keeping {
			text = strings.ReplaceAll(text, "\n---", "\n\n---")
		}
	}
	if keeping || !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
