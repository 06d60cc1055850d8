package nodes

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// autoscaled plans for nodes that the autoscaler made. It makes and deletes their
// servers: nothing is refused for them, and nothing is awaited.
type autoscaled struct{ *planner }

// follows reports whether a node takes what Git has. One that starts, or is about to go,
// is left to the autoscaler.
func (a autoscaled) follows(want Want, node Node) bool {
	if node.Reach == Configured && node.Stage == StageRunning && node.Role == want.Role {
		return true
	}
	what := "it is not reached" + because(node)
	if node.Reach == Configured {
		what = "it is " + node.Stage
	}
	a.warn(want.Name, "the autoscaler made it, and "+what+": its configuration is not compared",
		"the next apply compares it again; autoscaler.discovery: false in cluster.yaml leaves such nodes alone")
	return false
}

// unread takes nodes to which nothing happens out of what a saved plan depends on: the
// autoscaler makes and deletes them at any time.
func (a autoscaled) unread() {
	for _, want := range a.desired.Nodes {
		if want.Autoscaled && !slices.ContainsFunc(a.plan.Steps, func(s Step) bool { return s.Node == want.Name }) {
			a.plan.Reads = slices.DeleteFunc(a.plan.Reads, func(d plan.Digest) bool { return d.Key == plan.Key("node/"+want.Name) })
		}
	}
}

// settings are what reaches a living node of a difference. What a node of the tree would
// be refused for, and another contract, only new servers have.
func settings(d *nodeconfig.Difference) *nodeconfig.Difference {
	left := &nodeconfig.Difference{}
	refused := d.Class() == nodeconfig.Refused
	if !refused {
		left.Changes, left.Send = d.Changes, d.Send
	}
	for _, c := range d.Held {
		if c.Whole() {
			c.Class = nodeconfig.Replacement
		}
		left.Held = append(left.Held, c)
	}
	for _, c := range d.Changes {
		switch {
		case !refused:
			continue
		case c.Class != nodeconfig.Refused:
			c.Reason = "it is not sent without what is refused"
		}
		c.Class = nodeconfig.Replacement
		left.Held = append(left.Held, c)
	}
	return left
}
