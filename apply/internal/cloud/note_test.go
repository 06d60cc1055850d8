package cloud

import (
	"errors"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

// A cluster of which nothing is its own has no place for notes: whoever has a
// network and a firewall of others is told which of them to give up.
func TestNotesNeedSomethingOfItsOwn(t *testing.T) {
	_, err := simulate(t).client(0).Notes("prod").Read(t.Context())
	var d *diag.Problem
	if !errors.As(err, &d) || !strings.Contains(d.Hint, "hetzner.firewall.existingId are both in cluster.yaml") {
		t.Errorf("%v", err)
	}
}
