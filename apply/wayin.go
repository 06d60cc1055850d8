package apply

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/preflight"
)

// WayIn is how operators reach the nodes of a cluster, as its tree has it.
type WayIn struct {
	Cluster string `json:"cluster"`
	// The server that leads to nodes without public addresses; empty: there is none.
	Gateway string `json:"gateway,omitempty"`
	// Whether nodes have public addresses.
	Public bool `json:"public"`
	// From where rules let in to the APIs of Kubernetes and Talos for good.
	Kubernetes []string `json:"kubernetesSources"`
	Talos      []string `json:"talosSources"`
}

// WayIn reads it.
func (e *Environment) WayIn() WayIn {
	i := &e.Infrastructure
	return WayIn{
		Cluster: i.Cluster, Gateway: i.Access.Jump, Public: i.Access.Mode == accessPublic && i.Access.Jump == "",
		Kubernetes: preflight.Sources(i, apiPort), Talos: preflight.Sources(i, talosPort),
	}
}

// String is a line about it.
func (w WayIn) String() string {
	from := func(sources []string) string {
		if len(sources) == 0 {
			return "no address"
		}
		return strings.Join(sources, ", ")
	}
	switch {
	case w.Gateway != "":
		return w.Cluster + ": its nodes are reached through " + w.Gateway
	case !w.Public:
		return w.Cluster + ": its nodes are reached from their own network"
	case slices.Equal(w.Kubernetes, w.Talos):
		return w.Cluster + ": rules let in " + from(w.Kubernetes)
	}
	return w.Cluster + ": rules let in " + from(w.Kubernetes) + " to Kubernetes, " + from(w.Talos) + " to Talos"
}

// wayNote says what takes operators to an API of a cluster that they do not reach as
// it is; empty if nothing is needed that is known here.
func (e *Environment) wayNote(api, port string) string {
	i := &e.Infrastructure
	switch {
	case preflight.Balanced(i, port):
		return ""
	case i.Access.Jump != "":
		return "its nodes are reached through " + i.Access.Jump + ": `talosgen access proxy " + e.name + "` leads there"
	case slices.Contains(preflight.Closed(i), api):
		return "the firewall lets no address in to the " + api + ": `talosgen access open " + e.name + "` lets yours in for a while"
	}
	return ""
}
