package generate

import "slices"

// networkZone is a network zone of Hetzner: all of a cluster is in one.
type networkZone struct {
	name      string
	locations []string // the simplest first
	// What is sold there instead of types that are sold in Europe alone.
	types map[string]string
}

var europe = networkZone{name: "eu-central", locations: []string{"hel1", "fsn1", "nbg1"}}

// overseas are zones with one location, without Arm, and with the types that Europe had before.
var overseas = func() (all []networkZone) {
	types := map[string]string{"cpx22": "cpx21", "cpx32": "cpx31", "cx33": "ccx13", "cax11": "cpx21", "cax21": "cpx31"}
	for _, at := range [][2]string{{"us-east", "ash"}, {"us-west", "hil"}, {"ap-southeast", "sin"}} {
		all = append(all, networkZone{at[0], []string{at[1]}, types})
	}
	return all
}()

// zone is where the cluster is.
func (e *environment) zone() networkZone {
	if !e.is("hetzner.zone overseas", 15) {
		return europe
	}
	return one(e, "hetzner.zone", overseas...)
}

// near is a location of Europe, or the one that the zone has instead.
func (e *environment) near(name string) string {
	if z := e.zone(); !slices.Contains(z.locations, name) {
		return z.locations[0]
	}
	return name
}

// sold is a server type of Europe, or the one that the zone has instead.
func (e *environment) sold(name string) string {
	if other, ok := e.zone().types[name]; ok {
		return other
	}
	return name
}
