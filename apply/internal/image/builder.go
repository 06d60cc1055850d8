package image

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// Candidates returns the servers that an image can be made with, best first:
// the one that was asked for, if it is sold, then others with the same
// architecture, those with the smallest disk and the lowest price first. A
// server can only be made from a snapshot of a disk that is no larger than its
// own, so types with more than most GB are left out; 0 is no limit.
func Candidates(c plan.Catalogue, want schemas.InfraSnapshot, most int, now time.Time) []plan.Candidate {
	types := slices.Clone(c.ServerTypes)
	slices.SortStableFunc(types, func(a, b plan.ServerType) int {
		return cmp.Or(cmp.Compare(a.Disk, b.Disk), cmp.Compare(price(a), price(b)), cmp.Compare(a.Name, b.Name))
	})
	var asked, others []plan.Candidate
	for _, t := range types {
		if t.Architecture != want.Architecture || most > 0 && t.Disk > most {
			continue
		}
		for _, l := range t.Locations {
			one := plan.Candidate{Type: t.Name, Location: l.Name, Available: l.Available}
			switch ended := !l.UnavailableAfter.IsZero() && l.UnavailableAfter.Before(now); {
			case ended:
			case t.Name == want.BuilderType && l.Name == want.BuilderLocation:
				asked = append(asked, one) // sold out or not: it was asked for
			case l.Available:
				others = append(others, one)
			}
		}
	}
	out := append(asked, others...)
	return out[:min(len(out), mostCandidates)]
}

// mostCandidates is how many servers are tried.
const mostCandidates = 8

// price is the lowest price of a type, of those that can be read.
func price(t plan.ServerType) float64 {
	lowest := 0.0
	for _, p := range t.Prices {
		if net, err := strconv.ParseFloat(p.Monthly.Net, 64); err == nil && (lowest == 0 || net < lowest) {
			lowest = net
		}
	}
	return lowest
}

// SmallestDisk returns the smallest disk, in GB, of the server types that have
// to start from an image; 0 if none is known.
func SmallestDisk(c plan.Catalogue, infra schemas.Infrastructure, want schemas.InfraSnapshot) int {
	var names []string
	uses := func(i schemas.InfraImage) bool {
		return i.Selector == want.Selector && i.Architecture == want.Architecture
	}
	for _, s := range infra.Servers {
		if uses(s.Image) {
			names = append(names, s.Types...)
		}
	}
	for _, p := range infra.AutoscalerPools {
		if uses(p.Image) {
			names = append(names, p.Type)
		}
	}
	smallest := 0
	for _, t := range c.ServerTypes {
		if slices.Contains(names, t.Name) && (smallest == 0 || t.Disk < smallest) {
			smallest = t.Disk
		}
	}
	return smallest
}

// builderName is the name of the server that makes an image: the same for every
// run, so that Hetzner lets only one of them have it.
func builderName(want schemas.InfraSnapshot) string {
	parts := []string{"talosgen-image"}
	for _, label := range []string{"talos_version", "talos_schematic_id"} {
		if value := want.Labels[label]; value != "" {
			parts = append(parts, value[:min(len(value), 16)])
		}
	}
	name := strings.Join(append(parts, Arch(want.Architecture)), "-")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}
