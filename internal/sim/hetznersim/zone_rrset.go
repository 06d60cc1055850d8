package hetznersim

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// rrset is the records of a zone with the same name and type.
type rrset struct {
	common    // the name is the one within the zone: "www", or "@"
	Zone      int64
	Type      string
	TTL       *int // nil is that of the zone
	Records   []record
	Protected bool // against changes
}

type record struct {
	Value   string `json:"value"`
	Comment string `json:"comment,omitempty"`
}

type rrsetInput struct {
	Name    string            `json:"name"`
	Type    string            `json:"type"`
	TTL     *int              `json:"ttl"`
	Records []record          `json:"records"`
	Labels  map[string]string `json:"labels"`
}

// maxRecords is how many records an RRSet can hold.
const maxRecords = 50

var recordTypes = strings.Fields("A AAAA CAA CNAME DS HINFO HTTPS MX NS PTR RP SOA SRV SVCB TLSA TXT")

func (r *rrset) is(name, kind string) bool { return r.Name == name && r.Type == kind }

type rrsetView struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	TTL        *int              `json:"ttl"`
	Labels     map[string]string `json:"labels"`
	Protection obj               `json:"protection"`
	Records    []record          `json:"records"`
	Zone       int64             `json:"zone"`
}

func viewRRSet(r *rrset) rrsetView {
	return rrsetView{r.Name + "/" + r.Type, r.Name, r.Type, r.TTL, filled(r.Labels), obj{"change": r.Protected}, some(r.Records), r.Zone}
}

// ownRecords are what every zone begins with.
func ownRecords() []rrsetInput {
	ns := rrsetInput{Name: "@", Type: "NS"}
	for _, name := range zoneNameservers {
		ns.Records = append(ns.Records, record{Value: name})
	}
	soa := zoneNameservers[0] + " dns.hetzner.com. 2026110100 86400 10800 3600000 3600"
	return []rrsetInput{{Name: "@", Type: "SOA", Records: []record{{Value: soa}}}, ns}
}

func rrsetRoutes() []route {
	const all = "/zones/{id_or_name}/rrsets"
	const one = all + "/{rr_name}/{rr_type}"
	return []route{
		{http.MethodGet, all, onZone(listRRSets)},
		{http.MethodPost, all, onZone(createRRSet)},
		{http.MethodGet, one, onRRSet(func(_ *call, _ *zone, r *rrset) (reply, error) { return ok(obj{"rrset": viewRRSet(r)}) })},
		{http.MethodPut, one, onRRSet(updateRRSet)},
		{http.MethodDelete, one, onRRSet(deleteRRSet)},
		{http.MethodPost, one + "/actions/set_records", onRRSet(editRecords("set_rrset_records", func(_, in []record) []record { return in }))},
		{http.MethodPost, one + "/actions/remove_records", onRRSet(editRecords("remove_rrset_records", withoutRecords))},
		{http.MethodPost, one + "/actions/update_records", onRRSet(okInstead(editRecords("update_rrset_records", commentRecords)))},
		{http.MethodPost, one + "/actions/add_records", onZone(addRecords)},
		{http.MethodPost, one + "/actions/change_ttl", onRRSet(changeRRSetTTL)},
		{http.MethodPost, one + "/actions/change_protection", onRRSet(protectRRSet)},
	}
}

// onRRSet is a handler for an RRSet that exists.
func onRRSet(do func(*call, *zone, *rrset) (reply, error)) handler {
	return onZone(func(c *call, z *zone) (reply, error) {
		if r := c.st.rrset(z.ID, c.vars[1], c.vars[2]); r != nil {
			return do(c, z, r)
		}
		return reply{}, fail("not_found", "rrset %s/%s not found", c.vars[1], c.vars[2])
	})
}

func (st *state) rrset(zone int64, name, kind string) *rrset {
	return find(st.rrsets.rows, func(r *rrset) bool { return r.Zone == zone && r.is(name, kind) })
}

func listRRSets(c *call, z *zone) (reply, error) {
	l := rowsOf("rrsets", &c.st.rrsets, func(r *rrset) any { return viewRRSet(r) })
	l = l.only(func(r *rrset) bool { return r.Zone == z.ID })
	if types := c.query["type"]; len(types) > 0 {
		l = l.only(func(r *rrset) bool { return slices.Contains(types, r.Type) })
	}
	return l.answer(c)
}

func createRRSet(c *call, z *zone) (reply, error) {
	in, err := decode[rrsetInput](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(z.ref()); err != nil {
		return reply{}, err
	}
	r, err := c.putRRSet(z, in)
	if err != nil {
		return reply{}, err
	}
	a := c.begin(job{command: "create_rrset", on: []ref{z.ref()}, undo: func(st *state, _ time.Time) { st.rrsets.drop(r.ID) }})
	return created(obj{"rrset": viewRRSet(r), "action": a.view(c.now)})
}

// putRRSet checks an RRSet and stores it.
func (c *call) putRRSet(z *zone, in rrsetInput) (*rrset, error) {
	var v invalid
	v.check(in.Name != "", "name", missing)
	v.check(in.Name == strings.ToLower(in.Name) && !strings.HasSuffix(in.Name, "."), "name", "Must be lower case and relative to the zone.")
	v.check(slices.Contains(recordTypes, in.Type), "type", "Must be one of: %s.", strings.Join(recordTypes, ", "))
	checkTTL(&v, in.TTL)
	checkLabels(&v, in.Labels)
	checkRecords(&v, in.Type, in.Records)
	if err := v.err(); err != nil {
		return nil, err
	}
	if z.Mode != "primary" {
		return nil, wrongMode(z)
	}
	if c.st.rrset(z.ID, in.Name, in.Type) != nil {
		return nil, notUnique("name")
	}
	if c.st.besidesCNAME(z.ID, in) {
		return nil, badField("name", "A CNAME cannot be beside other records of the same name.")
	}
	r := &rrset{common: c.fresh(in.Name, in.Labels), Zone: z.ID, Type: in.Type, TTL: in.TTL, Records: in.Records}
	c.st.rrsets.put(r)
	return r, nil
}

// besidesCNAME reports whether an RRSet would be a CNAME beside others of its
// name, or another one beside a CNAME.
func (st *state) besidesCNAME(zone int64, in rrsetInput) bool {
	return find(st.rrsets.rows, func(r *rrset) bool {
		return r.Zone == zone && r.Name == in.Name && (r.Type == "CNAME") != (in.Type == "CNAME")
	}) != nil
}

func wrongMode(z *zone) error {
	return fail("incorrect_zone_mode", "not supported for a zone in %s mode", z.Mode)
}

func checkRecords(v *invalid, kind string, records []record) {
	v.check(len(records) >= 1 && len(records) <= maxRecords, "records", "Length must be between 1 and %d.", maxRecords)
	for i, r := range records {
		addr, err := netip.ParseAddr(r.Value)
		switch kind {
		case "A":
			v.check(err == nil && addr.Is4(), "records", "%q is not an IPv4 address.", r.Value)
		case "AAAA":
			v.check(err == nil && addr.Is6(), "records", "%q is not an IPv6 address.", r.Value)
		case "CNAME":
			v.check(len(records) == 1, "records", "A CNAME has one record.")
		case "TXT":
			v.check(strings.HasPrefix(r.Value, `"`) && strings.HasSuffix(r.Value, `"`), "records", "%q must be quoted.", r.Value)
		}
		twice := slices.ContainsFunc(records[:i], func(o record) bool { return o.Value == r.Value })
		v.check(!twice, "records", "%q is there twice.", r.Value)
	}
}
