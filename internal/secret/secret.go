// Package secret keeps secret values out of everything that is printed: typed
// values that mask themselves, and a masker for text that was made elsewhere
// (errors of libraries, panics).
package secret

import (
	"encoding/json"
	"fmt"
	"unique"
)

// Mask is what is shown in place of a secret.
const Mask = "******"

// String is a secret text. Every way of printing, formatting or marshalling it
// gives [Mask] (or an address of memory, where package fmt may call no method:
// in unexported fields of others); only [String.Reveal] gives the text. Equal
// texts are equal values.
type String struct {
	// fmt prints unexported fields of unexported fields without asking them; a
	// handle is a pointer, which it does not follow.
	text unique.Handle[string]
}

// New wraps a secret text.
func New(text string) String {
	if text == "" {
		return String{}
	}
	return String{unique.Make(text)}
}

// Reveal returns the text itself.
func (s String) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return s.text.Value()
}

// IsZero reports whether the text is empty.
func (s String) IsZero() bool { return s == String{} }

// Or returns the value, or another one if it is empty.
func (s String) Or(other String) String {
	if s.IsZero() {
		return other
	}
	return s
}

// String returns [Mask].
func (s String) String() string { return Mask }

// GoString returns [Mask].
func (s String) GoString() string { return Mask }

// Format prints [Mask] whatever the verb.
func (s String) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Mask)) }

// MarshalJSON gives [Mask].
func (s String) MarshalJSON() ([]byte, error) { return json.Marshal(Mask) }

// MarshalText gives [Mask].
func (s String) MarshalText() ([]byte, error) { return []byte(Mask), nil }

// MarshalYAML gives [Mask].
func (s String) MarshalYAML() (any, error) { return Mask, nil }
