package ownership

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// String lists the conflicts, each with who claims the thing and where.
func String(conflicts []Conflict) string {
	var b strings.Builder
	for _, c := range conflicts {
		fmt.Fprintf(&b, "%s\n", c.Thing)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, claim := range c.Claims {
			who := claim.Owner.String()
			if claim.Player != "" {
				who = claim.Player + ", by " + who
			}
			fmt.Fprintf(w, "  %s\t%s\n", who, claim.Pos)
		}
		_ = w.Flush() // to a builder
	}
	return b.String()
}
