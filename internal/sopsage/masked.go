package sopsage

import (
	"fmt"

	"github.com/talosgen/talosgen/internal/secret"
)

// masked is embedded by types that hold keys or plaintexts, so that no format
// of a log, an error or a panic message prints them.
type masked struct{}

// Format implements [fmt.Formatter].
func (masked) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(secret.Mask)) }

// Format prints the name of the file only.
func (k KeyFile) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.Name)) }
