package hetznersim

import (
	"cmp"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// zone is a DNS zone.
type zone struct {
	common
	Mode      string
	TTL       int // in seconds
	Protected bool
	Primaries []nameserver
}

type nameserver struct {
	Address   string `json:"address"`
	Port      int    `json:"port,omitempty"`
	Algorithm string `json:"tsig_algorithm,omitempty"`
	Key       string `json:"tsig_key,omitempty"`
}

const kindZone = "zone"

// TTLs, in seconds.
const (
	defaultTTL = 3600
	minTTL     = 60
	maxTTL     = 1<<31 - 1
)

func (z *zone) ref() ref { return ref{z.ID, kindZone} }

// zoneNameservers are those that answer for every zone.
var zoneNameservers = []string{"hydrogen.ns.hetzner.com.", "oxygen.ns.hetzner.com.", "helium.ns.hetzner.de."}

// zoneName has two labels or more; the last one has no digits.
var zoneName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`)
})

type zoneView struct {
	ID         int64             `json:"id"`
	Name       string            `json:"name"`
	Created    time.Time         `json:"created"`
	Mode       string            `json:"mode"`
	TTL        int               `json:"ttl"`
	Labels     map[string]string `json:"labels"`
	Protection protection        `json:"protection"`
	Status     string            `json:"status"`
	Records    int               `json:"record_count"`
	Servers    obj               `json:"authoritative_nameservers"`
	Registrar  string            `json:"registrar"`
	Primaries  []nameserver      `json:"primary_nameservers,omitempty"`
}

func (st *state) viewZone(z *zone) zoneView {
	v := zoneView{ID: z.ID, Name: z.Name, Created: z.Created, Mode: z.Mode, TTL: z.TTL, Labels: filled(z.Labels),
		Protection: protection{z.Protected}, Status: "ok", Registrar: "other", Primaries: z.Primaries,
		Servers: obj{"assigned": zoneNameservers, "delegated": []string{}, "delegation_status": "unregistered", "delegation_last_check": z.Created}}
	if st.busy(z.ref()) {
		v.Status = "updating"
	}
	for _, r := range st.rrsets.rows {
		if r.Zone == z.ID {
			v.Records += len(r.Records)
		}
	}
	return v
}

func zoneRoutes() []route {
	const one = "/zones/{id_or_name}"
	return []route{
		{http.MethodGet, "/zones", listZones},
		{http.MethodPost, "/zones", createZone},
		{http.MethodGet, one, onZone(func(c *call, z *zone) (reply, error) { return ok(obj{kindZone: c.st.viewZone(z)}) })},
		{http.MethodPut, one, onZone(updateZone)},
		{http.MethodDelete, one, onZone(deleteZone)},
		{http.MethodPost, one + "/actions/change_ttl", onZone(changeZoneTTL)},
		{http.MethodPost, one + "/actions/change_protection", onZone(protectZone)},
	}
}

// onZone is a handler for a zone that exists, by its ID or its name.
func onZone(do func(*call, *zone) (reply, error)) handler {
	return func(c *call) (reply, error) {
		z := pick(&c.st.zones, idOrName(c.vars[0]))
		if z == nil {
			return reply{}, notFound(kindZone, c.vars[0])
		}
		return do(c, z)
	}
}

func listZones(c *call) (reply, error) {
	l := rowsOf("zones", &c.st.zones, func(z *zone) any { return c.st.viewZone(z) })
	if mode := c.query.Get("mode"); mode != "" {
		l = l.only(func(z *zone) bool { return z.Mode == mode })
	}
	return l.answer(c)
}

func createZone(c *call) (reply, error) {
	in, err := decode[struct {
		Name      string            `json:"name"`
		Mode      string            `json:"mode"`
		TTL       *int              `json:"ttl"`
		Labels    map[string]string `json:"labels"`
		RRSets    []rrsetInput      `json:"rrsets"`
		Primaries []nameserver      `json:"primary_nameservers"`
		File      string            `json:"zonefile"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	v.check(in.Name == "" || zoneName().MatchString(in.Name), "name", "Not a valid domain name.")
	v.check(in.Mode == "primary" || in.Mode == "secondary" && len(in.Primaries) > 0, "mode", "Must be primary, or secondary with primary_nameservers.")
	checkTTL(&v, in.TTL)
	if err := named(&v, kindZone, &c.st.zones, in.Name, in.Labels); err != nil {
		return reply{}, err
	}
	z := &zone{common: c.fresh(in.Name, in.Labels), Mode: in.Mode, TTL: defaultTTL, Primaries: in.Primaries}
	set(&z.TTL, in.TTL)
	c.st.zones.put(z)
	records := append(ownRecords(), in.RRSets...)
	if in.File != "" {
		f, err := readZoneFile(in.Name, in.File)
		if err != nil {
			return reply{}, err
		}
		records, z.TTL = f.rrsets, cmp.Or(f.ttl, z.TTL)
	}
	for _, r := range records {
		if _, err := c.putRRSet(z, r); err != nil {
			return reply{}, err
		}
	}
	a := c.begin(job{command: "create_zone", on: []ref{z.ref()}, undo: dropZone(z.ID)})
	return created(obj{kindZone: c.st.viewZone(z), "action": a.view(c.now)})
}

func checkTTL(v *invalid, ttl *int) {
	v.check(ttl == nil || *ttl >= minTTL && *ttl <= maxTTL, "ttl", "Must be between %d and %d.", minTTL, maxTTL)
}

func dropZone(id int64) effect {
	return func(st *state, _ time.Time) {
		for _, r := range keep(st.rrsets.rows, func(r *rrset) bool { return r.Zone == id }) {
			st.rrsets.drop(r.ID)
		}
		st.zones.drop(id)
	}
}

// updateZone changes labels; a zone keeps its name.
func updateZone(c *call, z *zone) (reply, error) {
	in, err := decode[update](c)
	if err != nil {
		return reply{}, err
	}
	in.Name = nil
	if z, err = apply(in, kindZone, &c.st.zones, z); err != nil {
		return reply{}, err
	}
	return ok(obj{kindZone: c.st.viewZone(z)})
}

func deleteZone(c *call, z *zone) (reply, error) {
	if z.Protected {
		return reply{}, isProtected(kindZone)
	}
	if err := c.lock(z.ref()); err != nil {
		return reply{}, err
	}
	return c.acted(c.begin(job{command: "delete_zone", on: []ref{z.ref()}, finish: dropZone(z.ID)}))
}

func changeZoneTTL(c *call, z *zone) (reply, error) {
	in, err := decode[struct {
		TTL *int `json:"ttl"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	v.check(in.TTL != nil, "ttl", missing)
	checkTTL(&v, in.TTL)
	if err := v.err(); err != nil {
		return reply{}, err
	}
	if err := c.lock(z.ref()); err != nil {
		return reply{}, err
	}
	return c.acted(c.begin(job{command: "change_ttl", on: []ref{z.ref()}, finish: func(st *state, _ time.Time) {
		st.zones.change(z.ID, func(z *zone) { z.TTL = *in.TTL })
	}}))
}

func protectZone(c *call, z *zone) (reply, error) {
	protect, err := wantedProtection(c)
	if err != nil {
		return reply{}, err
	}
	c.st.zones.change(z.ID, func(z *zone) { z.Protected = protect })
	return c.acted(c.done("change_protection", z.ref()))
}
