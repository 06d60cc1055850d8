package cloud

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// candidates lists where and as what a new server is tried: every location with
// the first type, then with the next one, so that what it costs stays what was
// planned as long as possible. What is known to be sold out comes last: it may
// be back.
func (p *servers) candidates(d *changeBuilder, want schemas.InfraServer) {
	var problems []string
	if kept := p.keptIn(want); kept != "" {
		want.Locations = []string{kept} // an address does not move
	}
	for _, name := range want.Types {
		for _, location := range want.Locations {
			if why := p.unsuitable(name, location, want.Image.Architecture); why != "" {
				if !slices.Contains(problems, why) {
					problems = append(problems, why)
				}
				continue
			}
			d.Candidates = append(d.Candidates, Candidate{Type: name, Location: location, Available: p.observed.Catalogue.available(name, location)})
		}
	}
	sorting.By(d.Candidates, func(a, b Candidate) int { return rank(a) - rank(b) })
	switch {
	case len(d.Candidates) == 0:
		p.refusal(d.Key, "there is no type and location that it can be made with: "+strings.Join(problems, "; "), "choose other types or locations in cluster.yaml")
		return
	case len(problems) > 0:
		p.warn(d.Key, strings.Join(problems, "; "), "the other types and locations are tried")
	}
	first := d.Candidates[0]
	if offer := p.observed.Catalogue.typeOf(first.Type).at(first.Location); !offer.UnavailableAfter.IsZero() {
		p.warn(d.Key, fmt.Sprintf("%s is sold in %s until %s only", first.Type, first.Location, offer.UnavailableAfter.Format(time.DateOnly)),
			"choose its successor in cluster.yaml")
	}
	if !first.Available {
		p.warn(d.Key, "Hetzner says that it has no such server now, of any type and location", "it is tried nevertheless; add types or locations to fall back to")
	}
	d.show(FieldType, first.Type)
	d.show(FieldLocation, first.Location)
}

func rank(c Candidate) int {
	if c.Available {
		return 0
	}
	return 1
}

// unsuitable says why no server of a type can be made in a location, ever;
// empty if one can.
func (p *servers) unsuitable(name, location, architecture string) string {
	t := p.observed.Catalogue.typeOf(name)
	place := p.observed.Catalogue.location(location)
	switch {
	case t == nil:
		return fmt.Sprintf("Hetzner has no server type %s", name)
	case t.Architecture != architecture:
		return fmt.Sprintf("the type %s is %s, the image is %s", name, t.Architecture, architecture)
	case place == nil:
		return fmt.Sprintf("Hetzner has no location %s", location)
	case p.otherZone(place.NetworkZone):
		return fmt.Sprintf("the location %s is in the network zone %s, which the network is not in", location, place.NetworkZone)
	}
	offer := t.at(location)
	switch {
	case offer == nil:
		return fmt.Sprintf("there is no %s in %s", name, location)
	case !offer.UnavailableAfter.IsZero() && p.observed.Time.After(offer.UnavailableAfter):
		return fmt.Sprintf("%s is no longer sold in %s", name, location)
	}
	return ""
}

// otherZone reports whether no cloud subnet is in a network zone.
func (p *servers) otherZone(zone string) bool {
	return p.want != nil && !slices.ContainsFunc(p.want.Subnets, func(s schemas.InfraSubnet) bool {
		return s.NetworkZone == zone
	})
}

// serverType compares the type of a living server. Each that is desired is as
// good as the first: a server that fell back stays. What a node never becomes, only a
// new one can be.
func (p *servers) serverType(d *changeBuilder, want schemas.InfraServer, have *Server) {
	if slices.Contains(want.Types, have.Type) || len(want.Types) == 0 || len(p.onlyNew(want, have)) > 0 {
		return
	}
	f := Field{Name: FieldType, from: have.Type, to: want.Types[0], Class: PowerOff}
	if want.KeepDisk {
		f.Reason = "the disk keeps its size"
	}
	found, problems := p.becomes(want, have)
	if len(found) == 0 {
		f.Reason = strings.Join(problems, "; ")
		d.refuse(f, "keep the type, or make it again: --replace %s", d.Key)
		return
	}
	d.Candidates, f.to = found, found[0].Type
	d.field(f)
}

// cannotBecome says why a server cannot have a type; empty if it can.
func (p *servers) cannotBecome(name string, have *Server) string {
	t, old := p.observed.Catalogue.typeOf(name), p.observed.Catalogue.typeOf(have.Type)
	switch {
	case t == nil:
		return fmt.Sprintf("Hetzner has no server type %s", name)
	case old != nil && t.Architecture != old.Architecture:
		return fmt.Sprintf("%s is %s, the server is %s", name, t.Architecture, old.Architecture)
	case t.Disk < have.DiskSize:
		return fmt.Sprintf("%s has a disk of %d GB, the server's has %d GB, and disks never shrink", name, t.Disk, have.DiskSize)
	case t.at(have.Location) == nil:
		return fmt.Sprintf("there is no %s in %s", name, have.Location)
	}
	return ""
}

// madeFrom reports whether a server was made from an image that is desired, as
// far as that can be known: the image may be gone.
func (p *servers) madeFrom(want schemas.InfraImage, have *Server) bool {
	if t := p.observed.Catalogue.typeOf(have.Type); t != nil && t.Architecture != want.Architecture {
		return false
	}
	if have.ImageID == 0 {
		return true
	}
	if want.Name != "" {
		return have.ImageName == want.Name
	}
	s, err := labelselector.Parse(want.Selector)
	return err == nil && have.ImageName == "" && s.Matches(have.ImageLabels)
}

// words joins alternatives.
func words(list []string) string { return strings.Join(list, " or ") }
