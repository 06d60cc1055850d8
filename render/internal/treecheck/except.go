package treecheck

import (
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Except is the annotation of an object with the fields that are right, whatever
// a check says of them: their paths, each on a line, or with commas between.
const Except = "talosgen.dev/check-except"

// exception is a field of an object that nothing is said of.
type exception struct{ object, path string }

// fault notes what is wrong with a field of an object, unless it is excepted.
func (c *checker) fault(o manifest.Located, path, text, hint string) {
	for _, e := range exceptions(o.Object) {
		if within(e.path, path) {
			c.excepted[e] = true
			return
		}
	}
	if c.givenLater(o, path) {
		c.later++
		return
	}
	if path != "" {
		text = path + ": " + text
	}
	p := diag.New(o.At(path), "%s: %s", o.ID(), text).WithHint("%s", hint)
	if !c.ignores(o.ID().String(), path, p) {
		c.problems.Add(p)
	}
}

// exceptions are those that an object has.
func exceptions(o manifest.Object) (all []exception) {
	text := manifest.Text(manifest.Section(o, "metadata", "annotations")[Except])
	for _, path := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
		all = append(all, exception{o.ID().String(), path})
	}
	return all
}

// noteUnneeded notes the exceptions of fields that nothing is wrong with: they
// would hide what becomes wrong.
func (c *checker) noteUnneeded() {
	for _, o := range c.objects {
		for _, e := range exceptions(o.Object) {
			if !c.excepted[e] {
				c.notes = append(c.notes, fmt.Sprintf("%s: nothing is wrong with %s, which %s names", e.object, e.path, Except))
			}
		}
	}
}
