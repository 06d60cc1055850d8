package cloud

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// switchedOffFor are the fields for which a change switches its server off for a while.
func (d *changeBuilder) switchedOffFor() (fields []string) {
	for _, f := range d.Fields {
		if f.Class == PowerOff {
			fields = append(fields, f.path())
		}
	}
	return fields
}

// switchedOffFor says which fields of a server that is there are changed while it is off;
// empty: none.
func (p *gateways) switchedOffFor(want schemas.InfraServer, have *Server) string {
	d := buildChange(KindServer, want.Name, have.ID, Update)
	s := &servers{planner: p.planner}
	s.serverType(d, want, have)
	s.serverPlace(d, want, have)
	publicAddress(d, FieldPublicIPv4, have.PublicIPv4.IP, want.PublicIPv4)
	publicAddress(d, FieldPublicIPv6, have.PublicIPv6.IP, want.PublicIPv6)
	return strings.Join(d.switchedOffFor(), ", ")
}

// oneOfTwo reports whether a server is a gateway beside another one.
func (p *gateways) oneOfTwo(s schemas.InfraServer) bool {
	return p.want != nil && !node(s) && slices.ContainsFunc(p.want.Routes, func(r schemas.InfraRoute) bool {
		return r.Standby != "" && (s.PrivateIP == r.Gateway || s.PrivateIP == r.Standby)
	})
}

// oneAtATime lets changes that take a server down wait for each other, and so
// the removal of control planes: never two at once, and in the order of their names, as
// their nodes leave. A server that waits for a route to lead elsewhere is the last one: the
// other gateway may have to be changed before.
func (s *changeSet) oneAtATime(observed *Observed) {
	sorting.By(s.plan.Changes, func(a, b Change) int {
		return cmp.Or(awaitsRoute(a)-awaitsRoute(b), natural.Compare(a.Name, b.Name))
	})
	var last plan.Key
	for i := range s.plan.Changes {
		c := &s.plan.Changes[i]
		if c.Kind != KindServer || !(c.Class == PowerOff || c.Action == Delete && observed.controlPlane(c.ID)) {
			continue
		}
		if last != "" {
			c.gone = append(c.gone, last)
		}
		last = c.Key
	}
}

// awaitsRoute is 1 for a change that switches a server off once a route leads elsewhere.
func awaitsRoute(c Change) int {
	if c.Class == PowerOff && slices.ContainsFunc(c.Needs, func(k plan.Key) bool { return strings.HasPrefix(string(k), string(KindRoute)+"/") }) {
		return 1
	}
	return 0
}
