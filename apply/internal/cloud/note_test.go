package cloud

import (
	"errors"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

// A cluster of which nothing is its own has no place for notes: a tree that was
// rendered before clusters got one has to be rendered again.
func TestNotesNeedSomethingOfItsOwn(t *testing.T) {
	_, err := simulate(t).client(0).Notes("prod").Read(t.Context())
	var d *diag.Problem
	if !errors.As(err, &d) || !strings.Contains(d.Hint, "apply the infrastructure first: --stage infrastructure; if the tree has network.existing") {
		t.Errorf("%v", err)
	}
}
