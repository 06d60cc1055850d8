package plan

import (
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// StaleError says why a plan of a cluster must not be executed any more; nil if
// nothing has changed.
func StaleError(cluster string, changed ...string) error {
	if len(changed) == 0 {
		return nil
	}
	return diag.On("plan of "+cluster, "it is stale: %s", strings.Join(changed, ", ")).
		WithHint("make a new plan, and look at it").WithCode(diag.Conflict)
}
