package wayin

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/schemas"
)

// Way is how operators reach the nodes of a cluster, as its tree has it.
type Way struct {
	Cluster string `json:"cluster"`
	// The server that leads to nodes without public addresses; empty: there is none.
	Gateway string `json:"gateway,omitempty"`
	// The one that leads there while that one does not; empty: there is none.
	Standby string `json:"standbyGateway,omitempty"`
	// Whether nodes have public addresses.
	Public bool `json:"public"`
	// From where rules let in to the APIs of Kubernetes and Talos for good.
	Kubernetes []string `json:"kubernetesSources"`
	Talos      []string `json:"talosSources"`
}

// The ports of the APIs of nodes.
const (
	kubernetesPort = "6443"
	talosPort      = "50000"
)

// Of reads it from a tree.
func Of(i *schemas.Infrastructure) Way {
	return Way{
		Cluster: i.Cluster, Gateway: i.Access.Jump, Standby: i.Access.JumpStandby, Public: public(i) && i.Access.Jump == "",
		Kubernetes: preflight.Sources(i, kubernetesPort), Talos: preflight.Sources(i, talosPort),
	}
}

// public reports whether nodes have public addresses.
func public(i *schemas.Infrastructure) bool { return i.Access.Mode == "public" }

// String is a line about it.
func (w Way) String() string {
	from := func(sources []string) string {
		if len(sources) == 0 {
			return "no address"
		}
		return strings.Join(sources, ", ")
	}
	switch {
	case w.Gateway != "":
		return w.Cluster + ": its nodes are reached through " + either(w.Gateway, w.Standby)
	case !w.Public:
		return w.Cluster + ": its nodes are reached from their own network"
	case slices.Equal(w.Kubernetes, w.Talos):
		return w.Cluster + ": rules let in " + from(w.Kubernetes)
	}
	return w.Cluster + ": rules let in " + from(w.Kubernetes) + " to Kubernetes, " + from(w.Talos) + " to Talos"
}

// either names a gateway, and the one that stands by, if there is one.
func either(gateway, standby string) string {
	if standby == "" {
		return gateway
	}
	return gateway + " or " + standby
}

// ToTalos is [ToKubernetes] for the Talos API.
func ToTalos(i *schemas.Infrastructure, env string) string {
	return to(i, env, preflight.TalosAPI, talosPort)
}

// ToKubernetes says what takes operators to the Kubernetes API of an environment, if
// they do not reach it as it is; empty if nothing is needed that is known here.
func ToKubernetes(i *schemas.Infrastructure, env string) string {
	return to(i, env, preflight.KubernetesAPI, kubernetesPort)
}

func to(i *schemas.Infrastructure, env, api, port string) string {
	switch {
	case preflight.Balanced(i, port):
		return ""
	case i.Access.Jump != "":
		return "its nodes are reached through " + either(i.Access.Jump, i.Access.JumpStandby) + ": `talosgen access proxy " + env + "` leads there"
	case slices.Contains(preflight.Closed(i), api):
		return "the firewall lets no address in to the " + api + ": `talosgen access open " + env + "` lets yours in for a while"
	}
	return ""
}
