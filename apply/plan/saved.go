package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/talosgen/talosgen/internal/diag"
)

// SavedVersion is the version of the format of saved plans.
const SavedVersion = "talosgen.dev/plan/v1alpha1"

// Section is what one planner made, in the file of a saved plan: what was reviewed
// and what the operator agreed to. It holds no secrets.
type Section[Policy, Plan any] struct {
	// What stands for the sources that it was made from; empty: what it reads says.
	Desired string `json:"desired,omitempty"`
	Policy  Policy `json:"policy"`
	Plan    *Plan  `json:"plan"`
}

// MakeAgain is the hint about a saved plan that cannot be used.
const MakeAgain = "make it again: talosgen plan <env> --out <file>"

// Encode writes a value as JSON for programs, and for the files of saved plans.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads the text of a saved plan; unknown fields are refused. Name is
// that of the file, for errors.
func Decode(name string, text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = fmt.Errorf("something follows after the plan")
		}
	}
	if err != nil {
		return diag.New(diag.Pos{File: name}, "this is no saved plan: %v", err).WithHint(MakeAgain)
	}
	return nil
}
