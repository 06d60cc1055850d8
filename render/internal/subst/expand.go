package subst

import (
	"bytes"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// NeedsExpansion tells whether a YAML file can hold anything to substitute.
// It looks for the opening ${ and, because a double-quoted scalar may spell
// the brace as an escape, for $ before a backslash.
func NeedsExpansion(data []byte) bool {
	return bytes.Contains(data, []byte("${")) || bytes.Contains(data, []byte(`$\`))
}

// Expand substitutes variables in one text. It returns the names that the text
// refers to, in order, and whether any value in the result is secret. A
// default stands in for a variable that is undefined or empty; it is literal,
// up to the first closing brace. The errors carry no position.
func Expand(text string, scope *Scope) (result string, used []string, secret bool, err error) {
	e := expand(text, scope)
	var problems diag.List
	for _, f := range e.faults {
		problems.Add(f.problem(diag.Pos{}, scope, false))
	}
	return e.result, e.used, e.secret, problems.Err()
}

// expansion is what became of one text.
type expansion struct {
	result string
	used   []string
	secret bool
	faults []fault
}

// expand works from left to right; what a variable held is not looked at again.
func expand(text string, scope *Scope) expansion {
	var e expansion
	var out strings.Builder
	rest := 0 // what follows is not in out yet
	for {
		i := strings.Index(text[rest:], "${")
		if i < 0 {
			break
		}
		i += rest
		if i > rest && text[i-1] == '$' {
			out.WriteString(text[rest:i-1] + "${")
			rest = i + 2
			continue
		}
		out.WriteString(text[rest:i])
		ref := parseReference(text[i:])
		if ref.name != "" {
			e.used = append(e.used, ref.name)
		}
		value, isSecret, kind := ref.resolve(scope)
		if kind != noFault {
			e.faults = append(e.faults, fault{kind, i, ref.name})
		}
		out.WriteString(value)
		e.secret = e.secret || isSecret
		rest = i + ref.length
	}
	out.WriteString(text[rest:])
	e.result = out.String()
	return e
}

// reference is one ${…} as written.
type reference struct {
	name       string
	fallback   string
	hasDefault bool
	length     int // of the whole reference, or of its readable part
	kind       faultKind
}

// parseReference reads the reference that text begins with.
func parseReference(text string) reference {
	n := nameLen(text[2:])
	ref := reference{name: text[2 : 2+n], length: 2 + n}
	after := text[2+n:]
	switch {
	case n > 0 && strings.HasPrefix(after, "}"):
		ref.length++
	case n > 0 && strings.HasPrefix(after, ":-"):
		return ref.withDefault(after[2:])
	case !strings.Contains(after, "}"):
		ref.kind, ref.name = unclosed, ""
	default:
		ref.kind, ref.name = foreign, ""
	}
	return ref
}

// withDefault reads what follows the :- of a reference.
func (ref reference) withDefault(after string) reference {
	ref.hasDefault = true
	ref.length += 2
	end := strings.IndexByte(after, '}')
	switch {
	case end < 0:
		ref.kind = unclosed
	case strings.Contains(after[:end], "${"):
		ref.kind = nested
	default:
		ref.fallback = after[:end]
		ref.length += end + 1
	}
	return ref
}

// resolve gives the text that replaces the reference. A default that replaces
// an empty secret is secret too: it tells that the secret is empty.
func (ref reference) resolve(scope *Scope) (value string, secret bool, kind faultKind) {
	if ref.kind != noFault {
		return "", false, ref.kind
	}
	v, ok := scope.Lookup(ref.name)
	switch {
	case !ok && !ref.hasDefault:
		return "", false, undefined
	case v.Broken:
		return "", false, broken
	case v.Value == "":
		return ref.fallback, v.Secret, noFault
	default:
		return v.Value, v.Secret, noFault
	}
}
