package hetznersim

import (
	"maps"
	"time"
)

// fresh is the head of a new resource.
func (c *call) fresh(name string, labels map[string]string) common {
	return common{ID: c.st.newID(), Name: name, Labels: maps.Clone(labels), Created: c.now}
}

// filled returns labels that are {} in JSON when there are none.
func filled(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return labels
}

// acted answers with an action.
func (c *call) acted(a *action) (reply, error) {
	return created(obj{"action": a.view(c.now)})
}

// actions are actions as the API shows them.
func (c *call) actions(all ...*action) []actionView {
	views := []actionView{}
	for _, a := range all {
		views = append(views, a.view(c.now))
	}
	return views
}

// isProtected refuses to delete what is protected, in the words that the API has
// for the kind.
func isProtected(kind string) error {
	switch kind {
	case kindNetwork:
		return fail("protected", "network is delete protected")
	case kindFloatingIP:
		return fail("protected", "Floating IP deletion is protected")
	case kindImage:
		return fail("protected", "snapshot deletion is protected") // no other image can be protected
	default:
		return fail("protected", "%s deletion is protected", words(kind))
	}
}

// wantedProtection reads the body of change_protection.
func wantedProtection(c *call) (bool, error) {
	in, err := decode[struct {
		Delete *bool `json:"delete"`
	}](c)
	if err == nil && in.Delete == nil {
		err = badField("delete", missing)
	}
	if err != nil {
		return false, err
	}
	return *in.Delete, nil
}

// Limits are how many resources of a kind a project may hold, and how many cores all
// its servers may have; 0 is no limit.
type Limits struct {
	Servers, Networks, Firewalls, LoadBalancers, PlacementGroups, FloatingIPs, PrimaryIPs, Volumes, Snapshots int
	Cores                                                                                                     int
}

// maxPlacementGroups is the limit of every project.
const maxPlacementGroups = 50

// within refuses one more of a kind beyond a limit.
func (c *call) within(limit, have int, kind string) error {
	if limit > 0 && have >= limit {
		return overLimit(words(kind)+" limit exceeded", kind+"_limit")
	}
	return nil
}

// withinCores refuses a server type beyond the limit of cores: of a new server, or in
// place of the type that a server has.
func (c *call) withinCores(to, from *serverType) error {
	cores := to.Cores
	for _, s := range c.st.servers.rows {
		cores += c.st.cat.serverType(idOrName(s.Type)).Cores
	}
	if from != nil {
		cores -= from.Cores
	}
	if limit := c.cfg.Limits.Cores; limit > 0 && cores > limit && (from == nil || to.Cores > from.Cores) {
		return overLimit("core limit exceeded", "core_limit")
	}
	return nil
}

// DefaultActionTime is how long an action takes, by its command: near what
// people see at Hetzner.
func DefaultActionTime(command string) time.Duration {
	switch command {
	case "create_server", "rebuild_server":
		return 10 * time.Second
	case "apply_label_selector": // no action; how long a selector takes to notice a server
		return 5 * time.Second
	case "create_image":
		return 90 * time.Second
	case "change_server_type":
		return 45 * time.Second
	case "start_server", "stop_server", "delete_server", "reboot_server", "reset_server":
		return 3 * time.Second
	default:
		return time.Second
	}
}

// Instant is an ActionTime for clients that do not want to wait.
func Instant(string) time.Duration { return 0 }
