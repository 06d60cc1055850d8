// Package secret keeps secret values out of everything that is printed: typed
// values that mask themselves, and a masker for text that was made elsewhere
// (errors of libraries, panics).
package secret

import (
	"encoding/json"
	"fmt"
)

// Mask is what is shown in place of a secret.
const Mask = "******"

// String is a secret text. Every way of printing, formatting or marshalling it
// gives [Mask]; only [String.Reveal] gives the text.
type String struct {
	text string
}

// New wraps a secret text.
func New(text string) String { return String{text} }

// Reveal returns the text itself.
func (s String) Reveal() string { return s.text }

// IsZero reports whether the text is empty.
func (s String) IsZero() bool { return s.text == "" }

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
