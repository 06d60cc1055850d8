package hetznersim

import (
	"net/http"
	"time"
)

// group is a placement group: its servers run on different hosts.
type group struct{ common }

const kindGroup = "placement_group"

// maxSpread is how many servers a placement group of type spread can hold.
const maxSpread = 10

type groupView struct {
	ID      int64             `json:"id"`
	Name    string            `json:"name"`
	Labels  map[string]string `json:"labels"`
	Type    string            `json:"type"`
	Created time.Time         `json:"created"`
	Servers []int64           `json:"servers"`
}

func (st *state) viewGroup(g *group) groupView {
	v := groupView{ID: g.ID, Name: g.Name, Labels: filled(g.Labels), Type: "spread", Created: g.Created, Servers: []int64{}}
	for _, s := range st.servers.rows {
		if s.Group == g.ID {
			v.Servers = append(v.Servers, s.ID)
		}
	}
	return v
}

// roomIn refuses one server more in a full placement group.
func (st *state) roomIn(id int64) error {
	g := st.groups.get(id)
	if g == nil {
		return notFound(kindGroup, id)
	}
	if len(st.viewGroup(g).Servers) >= maxSpread {
		return fail("service_error", "placement group %s contains already %d servers", g.Name, maxSpread)
	}
	return nil
}

func groupRoutes() []route {
	const one = "/placement_groups/{id}"
	return []route{
		{http.MethodGet, "/placement_groups", listGroups},
		{http.MethodPost, "/placement_groups", createGroup},
		{http.MethodGet, one, onGroup(func(c *call, g *group) (reply, error) { return ok(obj{kindGroup: c.st.viewGroup(g)}) })},
		{http.MethodPut, one, onGroup(updateGroup)},
		{http.MethodDelete, one, onGroup(deleteGroup)},
		{http.MethodPost, "/servers/{id}/actions/add_to_placement_group", onServer(joinGroup)},
		{http.MethodPost, "/servers/{id}/actions/remove_from_placement_group", onServer(leaveGroup)},
	}
}

func onGroup(do func(*call, *group) (reply, error)) handler {
	return on(kindGroup, func(st *state) *table[group, *group] { return &st.groups }, do)
}

func listGroups(c *call) (reply, error) {
	return rowsOf("placement_groups", &c.st.groups, func(g *group) any { return c.st.viewGroup(g) }).answer(c)
}

func createGroup(c *call) (reply, error) {
	in, err := decode[struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
		Type   string            `json:"type"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	v.check(in.Type == "spread", "type", "Must be one of: spread.")
	if err := named(&v, kindGroup, &c.st.groups, in.Name, in.Labels); err != nil {
		return reply{}, err
	}
	if err := c.within(maxPlacementGroups, len(c.st.groups.rows), kindGroup); err != nil {
		return reply{}, err
	}
	g := &group{c.fresh(in.Name, in.Labels)}
	c.st.groups.put(g)
	return created(obj{kindGroup: c.st.viewGroup(g), "action": nil})
}

func updateGroup(c *call, g *group) (reply, error) {
	in, err := decode[update](c)
	if err != nil {
		return reply{}, err
	}
	if g, err = apply(in, kindGroup, &c.st.groups, g); err != nil {
		return reply{}, err
	}
	return ok(obj{kindGroup: c.st.viewGroup(g)})
}

// deleteGroup removes a group; its servers stay, in none.
func deleteGroup(c *call, g *group) (reply, error) {
	for _, id := range c.st.viewGroup(g).Servers {
		c.st.servers.change(id, func(s *server) { s.Group = 0 })
	}
	c.st.groups.drop(g.ID)
	return noContent()
}

func joinGroup(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		Group int64 `json:"placement_group"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(s.ref()); err != nil {
		return reply{}, err
	}
	switch {
	case s.Group != 0:
		return reply{}, fail("already_in_placement_group", "server is already part of a placement group")
	case s.Status != off:
		return reply{}, fail("server_not_stopped", "server must be stopped")
	}
	if err := c.st.roomIn(in.Group); err != nil {
		return reply{}, err
	}
	c.st.servers.change(s.ID, func(s *server) { s.Group = in.Group })
	return c.acted(c.begin(job{command: "add_to_placement_group", on: []ref{s.ref(), {in.Group, kindGroup}}, undo: ungroup(s.ID)}))
}

func ungroup(id int64) effect {
	return func(st *state, _ time.Time) { st.servers.change(id, func(s *server) { s.Group = 0 }) }
}

func leaveGroup(c *call, s *server) (reply, error) {
	if err := c.lock(s.ref()); err != nil {
		return reply{}, err
	}
	if s.Group == 0 {
		return reply{}, fail("service_error", "server is not part of a placement group")
	}
	return c.acted(c.begin(job{command: "remove_from_placement_group", on: []ref{s.ref(), {s.Group, kindGroup}}, finish: ungroup(s.ID)}))
}
