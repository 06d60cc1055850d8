// Package subst owns variables: reading them from env files, and putting them
// into parsed YAML.
//
// Substitution works on scalars, never on text, so a value can change neither
// the structure of a document nor a comment. The language is two forms and an
// escape: ${NAME}, ${NAME:-default}, and $${ for a literal ${. A $ before
// anything else is an ordinary character. The environment of the process is
// never read.
package subst

import (
	"maps"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
)

// Var is the value of a variable.
type Var struct {
	Value  string
	Secret bool     // came out of an encrypted source: what it is put into is secret too
	Pos    diag.Pos // where it was defined; zero for a built-in
	// Nobody knows its value, since its line cannot be read: that is an error
	// already, and no other one follows from it.
	Broken bool
}

// ReservedPrefix begins the names of the variables that talosgen defines.
const ReservedPrefix = "NODE_"

// Vars are variables by name.
type Vars map[string]Var

// Broken reports whether the value of one is not known.
func (v Vars) Broken() bool {
	for _, one := range v {
		if one.Broken {
			return true
		}
	}
	return false
}

// Scope looks a name up in Vars, then in Parent. A scope of its own for each
// node costs only the built-ins of that node. A nil Scope is empty.
type Scope struct {
	Parent *Scope
	Vars   Vars
}

// Lookup finds the innermost variable of that name.
func (s *Scope) Lookup(name string) (Var, bool) {
	for ; s != nil; s = s.Parent {
		if v, ok := s.Vars[name]; ok {
			return v, true
		}
	}
	return Var{}, false
}

// Names returns the names of all variables that have a value, sorted: what stands
// on a line that cannot be read may be no name, but a part of a value.
func (s *Scope) Names() []string {
	seen := map[string]bool{}
	for ; s != nil; s = s.Parent {
		for name, v := range s.Vars {
			if !v.Broken {
				seen[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// IsName reports whether a text can be the name of a variable.
func IsName(text string) bool { return text != "" && nameLen(text) == len(text) }

// nameLen returns the length of the variable name that text begins with:
// a letter or an underscore, then letters, digits and underscores.
func nameLen(text string) int {
	for i := range len(text) {
		c := text[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}
