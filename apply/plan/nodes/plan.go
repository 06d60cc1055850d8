// Package nodes says what to do with the nodes of a cluster, so that they
// become what the rendered tree says, and etcd never loses its quorum: a pure
// function of what is desired ([Desired]), what was seen ([Observed]) and what
// was agreed to ([Policy]).
//
// A plan is a list of steps, each after those that it needs. What may happen at
// once does not need each other: harmless changes of all nodes. What disturbs
// happens to one control plane at a time, with a check of the cluster's health
// after each, and to as many workers as the policy allows.
package nodes

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/secret"
)

// Mode is how far a run goes.
type Mode string

// The modes.
const (
	Auto     Mode = "auto"      // reboot what needs it
	NoReboot Mode = "no-reboot" // leave nodes whose change needs a reboot
	Staged   Mode = "staged"    // nothing changes until the next reboot, which somebody else makes
)

// Policy is what whoever runs apply agrees to.
type Policy struct {
	Mode Mode // empty: [Auto]
	// How many workers may be away at once; 0 is 1.
	MaxParallel int
	// Names of nodes that may be removed.
	Allow []string
	// Names of nodes whose machines are taken for new ones, whatever is recorded.
	Trust []string `json:",omitempty"`
	// The nodes that the plan is about; none are all.
	Only []string
	// The nodes that may be made anew, and those that have to be because of their server.
	Recreate, Forced []string `json:",omitempty"`
}

// concerns reports whether a plan is about a node.
func (p Policy) concerns(node string) bool { return len(p.Only) == 0 || slices.Contains(p.Only, node) }

// Action is what a step does.
type Action string

// The actions.
const (
	Health             Action = "health"          // check the cluster; wait until it is well
	Configure          Action = "configure"       // apply the configuration, without reboot; to a node in maintenance: install
	Stage              Action = "stage"           // apply the configuration for the next boot
	Join               Action = "join"            // wait until a new control plane votes in etcd
	Bootstrap          Action = "bootstrap"       // as the package bootstrap decides
	Record             Action = "record"          // that etcd serves which nobody has recorded
	Drain              Action = "drain"           // cordon and drain
	Reboot             Action = "reboot"          // and wait for another boot in which it runs
	Uncordon           Action = "uncordon"        // let pods in again
	Snapshot           Action = "snapshot"        // save etcd
	TransferLeadership Action = "forfeit"         // transfer the leadership of etcd
	Leave              Action = "leave"           // leave etcd
	RemoveMember       Action = "remove-member"   // of a dead node, by its id
	Verify             Action = "verify"          // see that the member is gone, and the others are well
	DeleteNode         Action = "delete-node"     // from Kubernetes
	RewriteSecrets     Action = "rewrite-secrets" // so that no Secret is stored with a key that is about to go
	Reset              Action = "reset"           // wipe the machine, and wait until it is in maintenance mode
)

// Text is the action as people read it in plans and while it is done. Its value in saved
// plans and in JSON stays.
func (a Action) Text() string {
	if a == TransferLeadership {
		return "transfer-leadership"
	}
	return string(a)
}

// WholeCluster and Etcd are the node of steps that are about all of them.
const (
	WholeCluster = "cluster"
	Etcd         = "etcd"
)

// Step is one thing to do.
type Step struct {
	// The action, a slash, and the node: reboot/prod-worker-1.
	Key    plan.Key `json:"key"`
	Action Action   `json:"action"`
	// The node; etcd or cluster where it is about all of them.
	Node string `json:"node"`
	// Its role; empty where it is about all of them.
	Role string `json:"role,omitempty"`
	// The steps that must be done before.
	Needs []plan.Key `json:"needs,omitempty"`
	// Of Configure and Stage: what differs, masked.
	Changes []nodeconfig.Change `json:"changes,omitempty"`
	// Of Drain: the node does not come back, nor do pods that nothing makes anew.
	ForGood bool `json:"forGood,omitempty"`
	// Of RemoveMember: whom.
	Member string `json:"member,omitempty"`
	// The consent that it takes, and whether it is there.
	Consent plan.ConsentKind `json:"consent,omitempty"`
	Allowed bool             `json:"allowed"`
	Reason  string           `json:"reason,omitempty"`
}

// Unsent are the nodes that keep all of their configuration, whatever else Git
// has for them.
func (p *Plan) Unsent() (names []string) {
	for _, h := range p.Held {
		if h.Change.Whole() {
			names = append(names, h.Node)
		}
	}
	return names
}

// Held is what a node keeps though Git has something else.
type Held struct {
	Node string `json:"node"`
	nodeconfig.Change
}

// Plan is what has to be done with nodes. It holds no secrets in what it prints
// or encodes.
type Plan struct {
	Cluster string `json:"cluster"`
	Steps   []Step `json:"steps"`
	// How many members of etcd have a vote, before the first step; 0: that is not known,
	// or there is no etcd.
	Voters int `json:"voters,omitempty"`
	// Versions that wait for upgrade, and what takes another node.
	Held []Held `json:"held,omitempty"`
	// The nodes with a configuration that only a new machine has.
	Recreate []Recreation `json:"recreate,omitempty"`
	// The upgrade that Git asks for; nil if there is none.
	Upgrade  *Upgrade    `json:"upgrade,omitempty"`
	Warnings []plan.Note `json:"warnings,omitempty"`
	// Why the plan must not be executed.
	Refusals []plan.Note `json:"refusals,omitempty"`
	// Nodes that are not reached, or do not run: nobody knows whether they are as
	// they should be.
	Unreachable []string `json:"away,omitempty"`
	// What was seen.
	Reads []plan.Digest `json:"reads"`

	send map[string]secret.String
}

// Format prints the plan as [Plan.String] does, whatever the verb: what is sent
// is full of secrets.
func (p Plan) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(p.String())) }

// Send returns the configuration that Configure and Stage send to a node.
func (p Plan) Send(node string) secret.String { return p.send[node] }

// Consents are the nodes for which consent is missing.
func (p Plan) Consents() (nodes []string) {
	for _, s := range p.Steps {
		if !s.Allowed && !slices.Contains(nodes, s.Node) {
			nodes = append(nodes, s.Node)
		}
	}
	return nodes
}

// Order returns the key of the step, and those of the steps before it.
func (s Step) Order() (key plan.Key, needs []plan.Key) { return s.Key, s.Needs }
