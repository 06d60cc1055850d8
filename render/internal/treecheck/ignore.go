package treecheck

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/ownership"
)

// Ignore is what is right, whatever a check says of it.
type Ignore struct {
	Object string // a pattern of names, as path.Match reads it
	Field  string // with what is in it; empty: all of the object
	Reason string
	Pos    diag.Pos // who says so
}

// Ignored is a problem that was left out, or a conflict.
type Ignored struct {
	Problem *diag.Problem
	Reason  string
}

// ignores tells whether a problem of an object is one to leave out, and takes it.
func (c *checker) ignores(object, field string, p *diag.Problem) bool {
	for i, ignore := range c.in.Ignore {
		if !matches(ignore.Object, object) || ignore.Field != "" && !within(ignore.Field, field) {
			continue
		}
		c.used[i] = true
		c.ignored = append(c.ignored, Ignored{p, ignore.Reason})
		return true
	}
	return false
}

// conflicts are those that are not to be left out.
func (c *checker) conflicts() []ownership.Conflict {
	return slices.DeleteFunc(ownership.Conflicts(c.claims), func(conflict ownership.Conflict) bool {
		owners := make([]string, len(conflict.Claims))
		for i, claim := range conflict.Claims {
			owners[i] = claim.Owner.String()
		}
		thing := conflict.Thing.String()
		return c.ignores(thing, "", diag.New(conflict.Claims[0].Pos, "%s: two owners: %s", thing, strings.Join(owners, ", ")))
	})
}

// noteUnused notes what is to be left out and is not there: it would hide what
// becomes wrong.
func (c *checker) noteUnused() {
	for i, ignore := range c.in.Ignore {
		if !c.used[i] {
			c.notes = append(c.notes, fmt.Sprintf("%s: nothing is wrong with %s, which check.ignore names", ignore.Pos, strings.TrimSuffix(ignore.Object+" "+ignore.Field, " ")))
		}
	}
}

// makes tells whether something that runs makes an object; its group is left out.
func (c *checker) makes(id manifest.ID) bool {
	return slices.ContainsFunc(c.in.Makes, func(pattern string) bool {
		kind, rest, _ := strings.Cut(pattern, "/")
		kind, _, _ = strings.Cut(kind, ".")
		return matches(kind+"/"+rest, id.String())
	})
}

// defines tells whether something that runs defines the kind of an object.
func (c *checker) defines(o manifest.Object) bool {
	return slices.ContainsFunc(c.in.Makes, func(pattern string) bool {
		kind, name, _ := strings.Cut(pattern, "/")
		kind, _, _ = strings.Cut(kind, ".")
		_, group, _ := strings.Cut(name, ".")
		return kind == "CustomResourceDefinition" && group == o.ID().Group
	})
}

func matches(pattern, name string) bool {
	match, err := path.Match(pattern, name)
	return err == nil && match
}

// within tells whether a path is that of a field, or of something in it.
func within(field, at string) bool {
	rest, found := strings.CutPrefix(at, field)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
