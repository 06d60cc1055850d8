package hetznersim

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/sorting"
)

// kinds of resources that have actions, and how their paths call them.
var kindsWithActions = []struct{ path, kind string }{
	{"certificates", kindCertificate},
	{"firewalls", kindFirewall},
	{"floating_ips", kindFloatingIP},
	{"images", kindImage},
	{"load_balancers", kindLoadBalancer},
	{"networks", kindNetwork},
	{"primary_ips", kindPrimaryIP},
	{"servers", kindServer},
	{"volumes", kindVolume},
	{"zones", kindZone},
}

func actionRoutes() []route {
	all := []route{
		{http.MethodGet, "/actions", listActions},
		{http.MethodGet, "/actions/{action}", getAction(0, func(*call, *action) bool { return true })},
	}
	for _, k := range kindsWithActions {
		of := func(_ *call, a *action) bool { return a.about(func(r ref) bool { return r.Type == k.kind }) }
		ofOne := func(c *call, a *action) bool {
			id := c.resourceID(k.kind)
			return a.about(func(r ref) bool { return r.Type == k.kind && r.ID == id })
		}
		all = append(all,
			route{http.MethodGet, "/" + k.path + "/actions", listOf(of)},
			route{http.MethodGet, "/" + k.path + "/actions/{action}", getAction(0, of)},
			route{http.MethodGet, "/" + k.path + "/{id}/actions", listOf(ofOne)},
			route{http.MethodGet, "/" + k.path + "/{id}/actions/{action}", getAction(1, ofOne)},
		)
	}
	return all
}

// resourceID is the ID of the resource that a path names; a zone can be named
// by its name.
func (c *call) resourceID(kind string) int64 {
	if kind == kindZone {
		if z := pick(&c.st.zones, idOrName(c.vars[0])); z != nil {
			return z.ID
		}
	}
	id, _ := c.id(0)
	return id
}

// about reports whether one of the action's resources fits.
func (a *action) about(fits func(ref) bool) bool { return slices.ContainsFunc(a.On, fits) }

// listActions answers for the IDs that a request names. Those that do not exist
// are missing from the answer; to list all actions has not been possible since
// 2025-01-30.
func listActions(c *call) (reply, error) {
	ids := c.query["id"]
	if len(ids) == 0 {
		e := fail("deprecated_api_endpoint", "API functionality was removed")
		e.Details = obj{"announcement": "https://docs.hetzner.cloud/changelog#2025-01-30-listing-arbitrary-actions-in-the-actions-list-endpoint-is-removed"}
		return reply{}, e
	}
	var rows []*action
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return reply{}, badField("id", "Not a valid integer.")
		}
		if a := c.st.actions.get(id); a != nil && !slices.Contains(rows, a) {
			rows = append(rows, a)
		}
	}
	sorting.By(rows, func(a, b *action) int { return cmp.Compare(a.ID, b.ID) })
	return c.answerActions(rows)
}

func listOf(fits func(*call, *action) bool) handler {
	return func(c *call) (reply, error) {
		return c.answerActions(keep(c.st.actions.rows, func(a *action) bool { return fits(c, a) }))
	}
}

func (c *call) answerActions(rows []*action) (reply, error) {
	l := listing[*action]{key: "actions", rows: rows, plain: true,
		head: (*action).head, view: func(a *action) any { return a.view(c.now) },
		by: map[string]func(a, b *action) int{
			"command":  func(a, b *action) int { return strings.Compare(a.Name, b.Name) },
			"status":   func(a, b *action) int { return strings.Compare(a.Status, b.Status) },
			"started":  func(a, b *action) int { return a.Created.Compare(b.Created) },
			"finished": func(a, b *action) int { return a.Finished.Compare(b.Finished) },
			"progress": func(a, b *action) int { return cmp.Compare(a.view(c.now).Progress, b.view(c.now).Progress) },
		}}
	if wanted := c.query["status"]; len(wanted) > 0 {
		l = l.only(func(a *action) bool { return slices.Contains(wanted, a.Status) })
	}
	return l.answer(c)
}

func getAction(brace int, fits func(*call, *action) bool) handler {
	return func(c *call) (reply, error) {
		id, _ := c.id(brace)
		a := c.st.actions.get(id)
		if a == nil || !fits(c, a) {
			return reply{}, notFound("action", c.vars[brace])
		}
		return ok(obj{"action": a.view(c.now)})
	}
}
