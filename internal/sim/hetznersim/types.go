package hetznersim

import (
	"net/http"
	"slices"
	"strings"
)

// Stock says whether a server type can be had in a location.
type Stock int

// States of stock.
const (
	Available     Stock = iota
	SoldOut             // shown as not available; refused with resource_unavailable
	HiddenSoldOut       // shown as available; refused all the same
	NoPlacement         // shown as available; refused with placement_error
)

type soldOut struct {
	location, serverType string
	stock                Stock
}

// SetStock says whether a server type can be had in a location from now on. An
// empty type is all types of the location.
func (s *Sim) SetStock(location, serverType string, stock Stock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.stock = keep(s.state.stock, func(o soldOut) bool {
		return o.location != location || o.serverType != serverType
	})
	if stock != Available {
		s.state.stock = append(s.state.stock, soldOut{location, serverType, stock})
	}
}

func (st *state) stockOf(location, serverType string) Stock {
	for _, o := range st.stock {
		if o.location == location && (o.serverType == "" || o.serverType == serverType) {
			return o.stock
		}
	}
	return Available
}

// checkStock refuses a server of a type in a location that cannot be had.
func (st *state) checkStock(l *location, t *serverType) error {
	if !t.in(l.Name) {
		return fail("invalid_input", "unsupported location for server type")
	}
	switch st.stockOf(l.Name, t.Name) {
	case SoldOut, HiddenSoldOut:
		return fail("resource_unavailable", "error during placement")
	case NoPlacement:
		return fail("placement_error", "error during placement")
	}
	return nil
}

type serverTypeView struct {
	ID           int64        `json:"id"`
	Name         string       `json:"name"`
	Description  string       `json:"description"`
	Cores        int          `json:"cores"`
	Memory       int          `json:"memory"`
	Disk         int          `json:"disk"`
	Deprecated   bool         `json:"deprecated"`
	Prices       []price      `json:"prices"`
	StorageType  string       `json:"storage_type"`
	CPUType      string       `json:"cpu_type"`
	Category     string       `json:"category"`
	Architecture string       `json:"architecture"`
	Deprecation  *deprecation `json:"deprecation"`
	Locations    []typeIn     `json:"locations"`
}

// typeIn is a server type in a location.
type typeIn struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Deprecation *deprecation `json:"deprecation"`
	Recommended bool         `json:"recommended"`
	Available   bool         `json:"available"`
}

func (st *state) viewType(t *serverType) serverTypeView {
	v := serverTypeView{ID: t.ID, Name: t.Name, Description: strings.ToUpper(t.Name), Cores: t.Cores, Memory: t.Memory,
		Disk: t.Disk, Deprecated: t.Deprecated != nil, Prices: t.Prices, StorageType: "local", CPUType: t.CPU,
		Category: t.Category, Architecture: t.Arch, Deprecation: t.Deprecated, Locations: []typeIn{}}
	for _, p := range t.Prices {
		stock := st.stockOf(p.Location, t.Name)
		there := stock != SoldOut && t.Deprecated == nil
		v.Locations = append(v.Locations, typeIn{st.cat.location(p.Location).ID, p.Location, t.Deprecated, there, there})
	}
	return v
}

type lbTypeView struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Connections int          `json:"max_connections"`
	Services    int          `json:"max_services"`
	Targets     int          `json:"max_targets"`
	Certs       int          `json:"max_assigned_certificates"`
	Deprecated  *string      `json:"deprecated"`
	Deprecation *deprecation `json:"deprecation"`
	Prices      []price      `json:"prices"`
}

func viewLBType(t *lbType) lbTypeView {
	return lbTypeView{ID: t.ID, Name: t.Name, Description: strings.ToUpper(t.Name), Connections: t.Connections,
		Services: t.Services, Targets: t.Targets, Certs: t.Certs, Prices: t.Prices}
}

// offered lists a part of the catalogue, which has names, but no labels.
func offered[E any](key string, list func(*catalogue) []*E, head func(*E) *common, view func(*state, *E) any) handler {
	return func(c *call) (reply, error) {
		l := listing[*E]{key: key, rows: list(c.st.cat), head: head, view: func(e *E) any { return view(c.st, e) }, plain: true}
		if name := c.query.Get("name"); name != "" {
			l = l.only(func(e *E) bool { return head(e).Name == name })
		}
		return l.answer(c)
	}
}

// offered1 gets one entry of the catalogue.
func offered1[E any](kind string, list func(*catalogue) []*E, head func(*E) *common, view func(*state, *E) any) handler {
	return func(c *call) (reply, error) {
		id, _ := c.id(0)
		if e := find(list(c.st.cat), func(e *E) bool { return head(e).ID == id }); e != nil {
			return ok(obj{kind: view(c.st, e)})
		}
		return reply{}, notFound(kind, c.vars[0])
	}
}

// shelf is a part of the catalogue: how to list it and get one of it.
func shelf[E any](kind string, list func(*catalogue) []*E, head func(*E) *common, view func(*state, *E) any) []route {
	return []route{
		{http.MethodGet, "/" + kind + "s", offered(kind+"s", list, head, view)},
		{http.MethodGet, "/" + kind + "s/{id}", offered1(kind, list, head, view)},
	}
}

// gone answers for what was removed on 2026-10-01.
func gone(*call) (reply, error) {
	e := fail("deprecated_api_endpoint", "API functionality was removed")
	e.Details = obj{"announcement": "https://docs.hetzner.cloud/changelog"}
	return reply{}, e
}

func catalogueRoutes() []route {
	return slices.Concat(
		[]route{{http.MethodGet, "/datacenters", gone}, {http.MethodGet, "/datacenters/{id}", gone}},
		shelf("location", func(c *catalogue) []*location { return c.locations },
			func(l *location) *common { return &common{ID: l.ID, Name: l.Name} },
			func(_ *state, l *location) any { return l }),
		shelf("server_type", func(c *catalogue) []*serverType { return c.types },
			func(t *serverType) *common { return &common{ID: t.ID, Name: t.Name} },
			func(st *state, t *serverType) any { return st.viewType(t) }),
		shelf("load_balancer_type", func(c *catalogue) []*lbType { return c.lbTypes },
			func(t *lbType) *common { return &common{ID: t.ID, Name: t.Name} },
			func(_ *state, t *lbType) any { return viewLBType(t) }),
	)
}
