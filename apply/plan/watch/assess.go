package watch

import (
	"slices"
	"strings"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// statusRunning is the status of a server that runs, statusOff of one that is off.
const (
	statusRunning = "running"
	statusOff     = "off"
)

// Assess is a node of the tree, as it was seen: its server, if there is one, and what its
// Talos and Kubernetes say. Machines that exist already have no servers.
func Assess(name string, server *cloudplan.Server, servers bool, o nodeplan.Observed) Node {
	i := slices.IndexFunc(o.Nodes, func(n nodeplan.Node) bool { return n.Name == name })
	if i < 0 {
		return Node{Name: name, State: Unknown, Why: "it was not observed"}
	}
	seen := o.Nodes[i]
	n := Node{Name: name, ControlPlane: seen.Role == nodeplan.ControlPlane}
	if server != nil {
		n.Machine, n.Created = server.ID, server.Created
	}
	n.State, n.Why = state(seen, server, servers, kubernetes(seen, o))
	return n
}

// answer is what Kubernetes says of a node.
type answer struct {
	known bool // it was asked, and answered
	ready bool
	lacks bool // it does not know it
	text  string
}

// kubernetes is what it says of a node. One that knows no node at all was not asked.
func kubernetes(n nodeplan.Node, o nodeplan.Observed) answer {
	switch {
	case o.Silent != "":
		return answer{text: "Kubernetes does not answer: " + oneLine(o.Silent)}
	case !slices.ContainsFunc(o.Nodes, func(n nodeplan.Node) bool { return n.Registered }):
		return answer{text: "Kubernetes was not asked"}
	case !n.Registered:
		return answer{known: true, lacks: true, text: "Kubernetes does not know it"}
	case n.Ready:
		return answer{known: true, ready: true, text: "Kubernetes says that it is ready"}
	}
	return answer{known: true, text: "Kubernetes says that it is not ready"}
}

// state says how a node is, and why.
func state(n nodeplan.Node, server *cloudplan.Server, servers bool, k answer) (State, string) {
	machine := ""
	switch {
	case !servers || server != nil && server.Status == statusRunning:
	case server == nil:
		machine = "it has no server"
	case server.Status == statusOff:
		machine = "its server is off"
	default:
		return Unknown, "its server is " + server.Status
	}
	switch {
	case machine != "":
	case n.Reach == nodeplan.Configured:
		return Alive, ""
	case n.Reach == nodeplan.Maintenance:
		return Bare, "it waits for its configuration"
	case n.Reach != nodeplan.Unreachable && n.Reach != "":
		return Unknown, "it is " + string(n.Reach) + ": " + oneLine(n.Reason)
	default:
		machine = "its Talos does not answer (" + oneLine(n.Reason) + ")"
	}
	why := machine + "; " + k.text
	switch {
	case !k.known:
		return Unknown, why
	case k.ready:
		return Unreached, why
	case k.lacks && servers && server == nil:
		return Missing, why
	}
	return Dead, why
}

// oneLine is the first line of a text.
func oneLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
