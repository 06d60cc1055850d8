package ownership

import (
	"fmt"
	"maps"
	"slices"
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

// Owners are the names of the owners of each thing, by its name.
func Owners(claims []Claim) map[string][]string {
	owners := map[string][]string{}
	for _, c := range claims {
		thing := c.Thing.String()
		if who := c.Owner.String(); !slices.Contains(owners[thing], who) {
			owners[thing] = append(owners[thing], who)
		}
	}
	for _, who := range owners {
		slices.Sort(who)
	}
	return owners
}

// Table lists every thing with its owners.
func Table(claims []Claim) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	owners := Owners(claims)
	for _, thing := range slices.Sorted(maps.Keys(owners)) {
		fmt.Fprintf(w, "%s\t%s\n", thing, strings.Join(owners[thing], ", "))
	}
	_ = w.Flush() // to a builder
	return b.String()
}
