package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
)

// place is where the servers of a run are, and of which types: the first one,
// else the next.
type place struct {
	location, zone string
	types          []string
}

// offer is a type of servers in a location.
type offer struct {
	location, name string
	price          float64 // of a month, gross
}

// serverType is a type of servers as the API shows it, as far as it matters.
type serverType struct {
	Name         string  `json:"name"`
	Memory       float64 `json:"memory"` // in GB
	Architecture string  `json:"architecture"`
	Prices       []struct {
		Location string `json:"location"`
		Monthly  struct {
			Gross string `json:"gross"`
		} `json:"price_monthly"`
	} `json:"prices"`
	Locations []struct {
		Name        string `json:"name"`
		Available   bool   `json:"available"`
		Deprecation any    `json:"deprecation"`
	} `json:"locations"`
}

// leastMemory is what a control plane of Talos needs, in GB.
const leastMemory = 2

// cheapest finds where servers are cheapest now, and the types to try there.
func (p *project) cheapest(ctx context.Context) (place, error) {
	var offers []offer
	err := p.list(ctx, "/server_types?", "server_types", func(text json.RawMessage) error {
		var t serverType
		if err := json.Unmarshal(text, &t); err != nil {
			return err
		}
		if t.Architecture == "x86" && t.Memory >= leastMemory {
			offers = append(offers, t.offers()...)
		}
		return nil
	})
	if err != nil {
		return place{}, err
	}
	if len(offers) == 0 {
		return place{}, errors.New("Hetzner has no servers to offer now")
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(a.price, b.price) })
	const try = 3
	best := place{location: offers[0].location}
	for _, o := range offers {
		if o.location == best.location && len(best.types) < try {
			best.types = append(best.types, o.name)
		}
	}
	best.zone, err = p.zone(ctx, best.location)
	return best, err
}

// offers are where a type can be had now. A price that is no number is none.
func (t serverType) offers() (out []offer) {
	for _, l := range t.Locations {
		if !l.Available || l.Deprecation != nil {
			continue
		}
		for _, price := range t.Prices {
			if gross, err := strconv.ParseFloat(price.Monthly.Gross, 64); err == nil && price.Location == l.Name {
				out = append(out, offer{l.Name, t.Name, gross})
			}
		}
	}
	return out
}

// zone is the network zone of a location.
func (p *project) zone(ctx context.Context, location string) (zone string, err error) {
	err = p.list(ctx, "/locations?name="+location+"&", "locations", func(text json.RawMessage) error {
		var l struct {
			Zone string `json:"network_zone"`
		}
		err := json.Unmarshal(text, &l)
		zone = l.Zone
		return err
	})
	if err == nil && zone == "" {
		err = errors.New("no location is named " + location)
	}
	return zone, err
}
