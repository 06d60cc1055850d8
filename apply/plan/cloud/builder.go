package cloud

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// mostBuilders is how many servers are tried at most to make an image.
const mostBuilders = 8

// BuilderChoice is the server that makes an image, and what may take its place.
type BuilderChoice struct {
	// Where and as what, best first; none if Hetzner sells none that can make it.
	Candidates []Candidate
	// Why the first candidate is the first, for people.
	Reason string
	// Why there is no candidate, or why what cluster.yaml asks for is not taken,
	// or until when the first one is sold; empty if there is nothing to say.
	Problem string
}

// ChooseBuilder chooses the server that makes an image: what the environment
// asks for, if it is sold; else the cheapest in a location of the cluster's
// servers, then in their network zone, then anywhere. What cannot be had at the
// moment comes last, and what is deprecated behind what is not. A server can
// only be made from a snapshot of a disk that is no larger than its own, so
// types with a larger disk than the cluster's smallest are left out.
func ChooseBuilder(c Catalogue, infra schemas.Infrastructure, want schemas.InfraSnapshot, now time.Time) BuilderChoice {
	s := &builderShop{catalogue: c, want: want, now: now}
	s.most = s.smallestDisk(infra)
	s.place(infra)
	offers := s.offers()
	if len(offers) == 0 {
		return BuilderChoice{Problem: "Hetzner sells no server type with the architecture " + want.Architecture}
	}
	sorting.By(offers, builderOffer.compare)
	first := offers[0]
	choice := BuilderChoice{Reason: s.reason(first, offers)}
	switch {
	case s.asks() && !first.asked:
		choice.Problem = s.refused()
	case first.leaving():
		choice.Problem = fmt.Sprintf("%s is sold in %s until %s only", first.Type, first.Location, first.until.Format(time.DateOnly))
	}
	for _, o := range offers[:min(len(offers), mostBuilders)] {
		choice.Candidates = append(choice.Candidates, o.Candidate)
	}
	return choice
}

// How far a location is from the servers of a cluster.
const (
	whereServersAre = iota
	inTheirZone
	elsewhere
)

// builderShop is what a server that makes an image is chosen from, and for what.
type builderShop struct {
	catalogue Catalogue
	want      schemas.InfraSnapshot
	now       time.Time
	most      int      // GB of the largest disk that fits; 0: any
	near      []string // locations of the servers, in order
	zones     []string // network zones of the cluster
}

// place finds out where the cluster is.
func (s *builderShop) place(infra schemas.Infrastructure) {
	for _, server := range infra.Servers {
		s.near = append(s.near, server.Locations...)
	}
	for _, p := range infra.AutoscalerPools {
		s.near = append(s.near, p.Location)
	}
	if infra.Network != nil {
		for _, subnet := range infra.Network.Subnets {
			s.zones = append(s.zones, subnet.NetworkZone)
		}
	}
	for _, l := range s.catalogue.Locations {
		if slices.Contains(s.near, l.Name) {
			s.zones = append(s.zones, l.NetworkZone)
		}
	}
	s.near, s.zones = once(s.near), once(s.zones)
}

// once is a list without what comes again.
func once(list []string) (out []string) {
	for _, e := range list {
		if e != "" && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// builderOffer is a server type in a location that can make the image.
type builderOffer struct {
	Candidate
	asked    bool
	distance int
	until    time.Time // no longer sold after it; zero: it stays
	price    *big.Rat  // nil if it is not known
	disk     int       // GB
	rank     int       // of its location among those of the servers
}

func (o builderOffer) leaving() bool { return !o.until.IsZero() }

// compare sorts offers, the best first.
func (o builderOffer) compare(other builderOffer) int {
	return cmp.Or(
		falseFirst(!o.asked, !other.asked),
		falseFirst(!o.Available, !other.Available),
		cmp.Compare(o.distance, other.distance),
		falseFirst(o.leaving(), other.leaving()),
		comparePrices(o.price, other.price),
		cmp.Compare(o.disk, other.disk),
		cmp.Compare(o.rank, other.rank),
		cmp.Compare(o.Type, other.Type),
		cmp.Compare(o.Location, other.Location),
	)
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// comparePrices puts what has no known price last.
func comparePrices(a, b *big.Rat) int {
	if a == nil || b == nil {
		return falseFirst(a == nil, b == nil)
	}
	return a.Cmp(b)
}

// offers are all servers that can make the image, in the order of the catalogue.
func (s *builderShop) offers() (list []builderOffer) {
	for _, t := range s.catalogue.ServerTypes {
		if t.Architecture != s.want.Architecture || s.tooLarge(t) {
			continue
		}
		for _, l := range t.Locations {
			if !l.UnavailableAfter.IsZero() && s.now.After(l.UnavailableAfter) {
				continue
			}
			o := builderOffer{
				Candidate: Candidate{Type: t.Name, Location: l.Name, Available: l.Available},
				asked:     s.asks() && fits(s.want.BuilderType, t.Name) && fits(s.want.BuilderLocation, l.Name),
				distance:  s.distance(l.Name), until: l.UnavailableAfter, disk: t.Disk,
				rank: slices.Index(s.near, l.Name),
			}
			if price, _ := typePrice(t.Prices, l.Name); price.Net != "" {
				if a, ok := amountOf(price); ok {
					o.price = a.net
				}
			}
			list = append(list, o)
		}
	}
	return list
}

// asks reports whether the environment says which server is to make the image,
// at least in part.
func (s *builderShop) asks() bool { return s.want.BuilderType != "" || s.want.BuilderLocation != "" }

// fits reports whether something is what was asked for, if that was.
func fits(asked, have string) bool { return asked == "" || asked == have }

func (s *builderShop) tooLarge(t ServerType) bool { return s.most > 0 && t.Disk > s.most }

func (s *builderShop) distance(location string) int {
	if slices.Contains(s.near, location) {
		return whereServersAre
	}
	inZone := func(l Location) bool { return l.Name == location && slices.Contains(s.zones, l.NetworkZone) }
	if slices.ContainsFunc(s.catalogue.Locations, inZone) {
		return inTheirZone
	}
	return elsewhere
}

// reason says why an offer is the best.
func (s *builderShop) reason(first builderOffer, offers []builderOffer) string {
	if first.asked {
		return "as asked for"
	}
	what := "the cheapest"
	cheaper := func(o builderOffer) bool {
		return o.leaving() && o.Available && o.distance == first.distance && comparePrices(o.price, first.price) < 0
	}
	switch {
	case first.price == nil:
		what = "prices are not known: one"
	case !first.leaving() && slices.ContainsFunc(offers, cheaper):
		what = "the cheapest that is not deprecated"
	}
	if !first.Available {
		return what + "; all are sold out at the moment"
	}
	switch here, zones := strings.Join(s.near, " and "), strings.Join(s.zones, " and "); {
	case first.distance == whereServersAre:
		return what + " where the cluster has servers"
	case first.distance == inTheirZone && here != "":
		return fmt.Sprintf("%s in the network zone; none is available in %s", what, here)
	case first.distance == elsewhere && zones != "":
		return fmt.Sprintf("%s of all locations; none is available in %s", what, zones)
	default:
		return what
	}
}

// sold reports whether a type is sold anywhere.
func (s *builderShop) sold(t ServerType) bool {
	return slices.ContainsFunc(t.Locations, func(l TypeLocation) bool {
		return l.UnavailableAfter.IsZero() || !s.now.After(l.UnavailableAfter)
	})
}

// refused says why what was asked for is not taken.
func (s *builderShop) refused() string {
	name, location := s.want.BuilderType, s.want.BuilderLocation
	i := slices.IndexFunc(s.catalogue.ServerTypes, func(t ServerType) bool { return t.Name == name })
	if name == "" {
		return fmt.Sprintf("the location %s has no server type for %s that an image can be made with", location, s.want.Architecture)
	}
	if i < 0 {
		return fmt.Sprintf("Hetzner has no server type %s to make images with", name)
	}
	switch t := s.catalogue.ServerTypes[i]; {
	case t.Architecture != s.want.Architecture:
		return fmt.Sprintf("the type %s is %s, the image is for %s", name, t.Architecture, s.want.Architecture)
	case s.tooLarge(t):
		return fmt.Sprintf("%s has a disk of %d GB, and no server with %d GB could start from its image", name, t.Disk, s.most)
	case location == "" || !s.sold(t):
		return fmt.Sprintf("%s is no longer sold", name)
	default:
		return fmt.Sprintf("%s is not sold in %s", name, location)
	}
}

// smallestDisk returns the smallest disk, in GB, of the server types that have to
// start from the image and can still be ordered; 0 if none is known.
func (s *builderShop) smallestDisk(infra schemas.Infrastructure) int {
	var names []string
	uses := func(i schemas.InfraImage) bool {
		return i.Selector == s.want.Selector && i.Architecture == s.want.Architecture
	}
	for _, server := range infra.Servers {
		if uses(server.Image) {
			names = append(names, server.Types...)
		}
	}
	for _, p := range infra.AutoscalerPools {
		if uses(p.Image) {
			names = append(names, p.Type)
		}
	}
	smallest := 0
	for _, t := range s.catalogue.ServerTypes {
		starts := t.Architecture == s.want.Architecture && s.sold(t) && slices.Contains(names, t.Name)
		if starts && (smallest == 0 || t.Disk < smallest) {
			smallest = t.Disk
		}
	}
	return smallest
}
