package config

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// europe is the network zone with most locations.
const europe = "eu-central"

// zones are the locations that Hetzner has, and the network zone of each. A
// location that is not here may be a new one, so it is only warned of.
var zones = map[string]string{
	"fsn1": europe, "nbg1": europe, "hel1": europe,
	"ash": "us-east", "hil": "us-west", "sin": "ap-southeast",
}

// gatewayType is the type of a gateway that none is given for: the cheapest that Hetzner
// sells of the dependable ones in a location. What is sold in Europe is not sold elsewhere.
func gatewayType(location string) string {
	if zone, known := zones[location]; known && zone != europe {
		return "cpx21"
	}
	return "cpx22"
}

// elsewhere is another location of the network zone of a location; the same one if the
// zone has no other.
func elsewhere(location string) string {
	for _, other := range slices.Sorted(maps.Keys(zones)) {
		if other != location && zones[other] == zones[location] {
			return other
		}
	}
	return location
}

// networkZones lists the zones that Hetzner has.
func networkZones() []string {
	return slices.Compact(slices.Sorted(maps.Values(zones)))
}

// objectStorage are the locations with an S3 service.
var objectStorage = []string{"fsn1", "nbg1", "hel1"}

// removed are server types that Hetzner does not sell any more, what follows
// them, and where that is so; nil is everywhere.
var removed = []struct {
	name      *regexp.Regexp
	successor string
	in        []string
}{
	{regexp.MustCompile(`^cx[1-5]1$`), "the types cx23 to cx53 and cpx12 to cpx62", nil},
	{regexp.MustCompile(`^cx[2-5]2$`), "the types cx23 to cx53 and cpx12 to cpx62", nil},
	{regexp.MustCompile(`^cpx[1-5]1$`), "the types cpx12 to cpx62", []string{"fsn1", "nbg1", "hel1"}},
}

// place is a location that the file names, or that a part of it has from the
// region.
type place struct {
	name string
	path []string
}

// checkLocation warns of a location that Hetzner does not have, and refuses one
// that the private network does not reach.
func (ch hetznerRules) checkLocation(p place) {
	zone, known := zones[p.name]
	switch network := ch.Hetzner.NetworkZone; {
	case p.name == "":
	case !known:
		known := slices.Sorted(maps.Keys(zones))
		ch.warn(cmp.Or(diag.Suggest(p.name, known), "known ones: "+strings.Join(known, ", ")), p.path, "unknown location %q", p.name)
	case slices.Contains(networkZones(), network) && zone != network:
		ch.fail("a network is in one zone: choose a location in "+network+", or set hetzner.networkZone: "+zone, p.path, "the location %s is in the network zone %s, the network in %s", p.name, zone, network)
	}
}

// warnRemoved warns of a server type that is not sold any more in a location.
func warnRemoved(r *reporter, serverType string, locations, at []string) {
	for _, location := range locations {
		for _, gone := range removed {
			if gone.name.MatchString(serverType) && (gone.in == nil || slices.Contains(gone.in, location)) {
				r.warn("see "+gone.successor+"; servers that exist are not affected", at,
					"Hetzner sells no new servers of type %s in %s", serverType, location)
				return
			}
		}
	}
}
