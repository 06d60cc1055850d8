package hetznersim_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/simtest"
)

// TestEveryOperationHasAShape: what tests compare with when the description of
// the API is not there covers all that the simulator can do.
func TestEveryOperationHasAShape(t *testing.T) {
	for _, o := range hetznersim.Operations() {
		method, path, _ := strings.Cut(strings.Replace(o, "{action}", "{id}", 1), " ")
		if shaped, err := simtest.Shaped(method, path); err != nil || !shaped {
			t.Errorf("%s has none: %v", o, err)
		}
	}
}
