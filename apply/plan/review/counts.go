package review

import (
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/recreate"
)

// Counts is how much there is to do. An object counts once: a node and its server are
// one.
type Counts struct {
	Add     int `json:"add"`
	Change  int `json:"change"` // in place
	Replace int `json:"replace"`
	Destroy int `json:"destroy"`
	// Nodes that reboot because of their configuration.
	Reboot int `json:"reboot"`
	// Servers that are off for a while.
	PowerOff int `json:"powerOff"`
	// Nodes that are made anew, one at a time, and those that wait for consent to that.
	Recreate        int `json:"recreate"`
	RecreateWaiting int `json:"recreateWaiting"`
	// How many workers may be unavailable at once.
	AtOnce int `json:"atOnce"`
	// Changes that nobody has agreed to, and what must not be done.
	NeedConsent int `json:"needConsent"`
	Refused     int `json:"refused"`
	// Objects in Kubernetes of which others own fields that Git has otherwise.
	Conflicts int `json:"conflicts"`
	// How much more a month costs, net, with its sign; empty if that is not known.
	MonthlyCost string `json:"monthlyCost,omitempty"`
	Currency    string `json:"currency,omitempty"`
}

// Counts counts.
func (r Review) Counts() Counts {
	c := r.counted()
	for _, become := range c.objects {
		*map[string]*int{add: &c.Add, change: &c.Change, replace: &c.Replace, destroy: &c.Destroy}[become]++
	}
	c.NeedConsent = len(c.waits)
	return c.Counts
}

// counted goes through all sections.
func (r Review) counted() *counter {
	c := &counter{objects: map[plan.Key]string{}, waits: map[plan.Key]bool{}, Counts: Counts{AtOnce: max(r.AtOnce, 1)}}
	if r.Cloud != nil {
		c.cloud(r.Cloud)
	}
	if r.Nodes != nil {
		c.nodes(r.Nodes)
	}
	if r.Kubernetes != nil {
		c.kubernetes(r.Kubernetes)
	}
	c.recreate(r.Recreate)
	c.RecreateWaiting = len(r.waiting())
	return c
}

// Objects is what becomes of each object that does not stay as it is: add, change,
// replace or destroy, or refused. A node and its server are one, under the server's key.
func (r Review) Objects() map[plan.Key]string {
	c := r.counted()
	if r.Cloud != nil {
		for _, ch := range r.Cloud.Changes {
			if ch.Class == cloudplan.Refused {
				c.objects[ch.Key] = refused
			}
		}
	}
	return c.objects
}

// What becomes of an object.
const (
	add     = "add"
	change  = "change"
	replace = "replace"
	destroy = "destroy"
	none    = "none"
	refused = "refused"
)

type counter struct {
	Counts
	objects map[plan.Key]string
	waits   map[plan.Key]bool // for consent
}

// object notes what becomes of an object. Of a node and its server the server says it.
func (c *counter) object(key plan.Key, become string, allowed bool) {
	if c.objects[key] == "" {
		c.objects[key] = become
	}
	if !allowed {
		c.waits[key] = true
	}
}

func (c *counter) cloud(p *cloudplan.Plan) {
	become := map[cloudplan.Action]string{cloudplan.Create: add, cloudplan.Update: change, cloudplan.Replace: replace, cloudplan.Delete: destroy}
	for _, ch := range p.Changes {
		if ch.Class == cloudplan.Refused {
			continue // it is among the refusals
		}
		c.object(ch.Key, become[ch.Action], ch.Allowed)
		if ch.Class == cloudplan.PowerOff {
			c.PowerOff++
		}
	}
	c.Refused += len(p.Refusals)
	c.MonthlyCost, c.Currency = p.Cost.Difference(), p.Cost.Currency
}

func (c *counter) nodes(p *nodeplan.Plan) {
	for _, r := range p.Rows(every) {
		become := change
		switch {
		case r.Removed():
			become = destroy
		case r.Made(), r.Does(nodeplan.Bootstrap):
			become = add
		case !r.Does(nodeplan.Configure, nodeplan.Stage):
			continue // etcd is recorded, pods are let in
		}
		for _, name := range r.Nodes {
			c.object(machine(name), become, r.Allowed)
		}
		if r.Does(nodeplan.Reboot) {
			c.Reboot += len(r.Nodes)
		}
	}
	c.Refused += len(p.Refusals)
}

func (c *counter) recreate(p *recreate.Plan) {
	for _, n := range p.Due() {
		c.object(machine(n.Name), replace, true)
		c.Recreate++
	}
	if p != nil {
		c.Refused += len(p.Refusals)
	}
}

func every(string) bool { return true }

// machine is the key that a node counts by: that of its server. etcd is none.
func machine(node string) plan.Key {
	if node == nodeplan.Etcd {
		return nodeplan.Etcd
	}
	return cloudplan.KeyOf(cloudplan.KindServer, node)
}

func (c *counter) kubernetes(p *kubeplan.Plan) {
	become := map[kubeplan.Action]string{kubeplan.Create: add, kubeplan.Replace: replace, kubeplan.Delete: destroy}
	for _, s := range p.Steps {
		switch {
		case s.Action == kubeplan.Conflict:
			c.Conflicts++
		case !s.Effective():
		case become[s.Action] != "":
			c.object("kubernetes/"+s.Key, become[s.Action], s.Allowed)
		default:
			c.object("kubernetes/"+s.Key, change, s.Allowed)
		}
	}
	c.Refused += len(p.Refusals)
}

// Count is one of the counts in words: what becomes of so many objects.
type Count struct {
	// add, change, replace or destroy; none of so many as none; refused; else empty.
	Class string
	Text  string
}

// Parts are the counts in words: those of objects, also of none, and what else there is
// to say.
func (c Counts) Parts() (objects, more []Count) {
	for _, o := range []struct {
		n           int
		class, text string
	}{{c.Add, add, "to add"}, {c.Change, change, "to change in place"}, {c.Replace, replace, "to replace"}, {c.Destroy, destroy, "to destroy"}} {
		objects = append(objects, Count{o.class, fmt.Sprintf("%d %s", o.n, o.text)})
		if o.n == 0 {
			objects[len(objects)-1].Class = none
		}
	}
	if c.PowerOff > 0 {
		more = append(more, Count{"", several(c.PowerOff, "server is", "servers are") + " powered off" + oneAtATime(c.PowerOff, 1)})
	}
	if c.Reboot > 0 {
		more = append(more, Count{"", several(c.Reboot, "node reboots", "nodes reboot") + oneAtATime(c.Reboot, c.AtOnce)})
	}
	if c.Recreate > 0 {
		more = append(more, Count{"", several(c.Recreate, "node is", "nodes are") + " recreated" + oneAtATime(c.Recreate, 1)})
	}
	if c.RecreateWaiting > 0 {
		more = append(more, Count{"", several(c.RecreateWaiting, "node waits", "nodes wait") + " for consent to be recreated"})
	}
	if c.NeedConsent > 0 {
		more = append(more, Count{refused, several(c.NeedConsent, "needs", "need") + " consent"})
	}
	if c.Refused > 0 {
		more = append(more, Count{refused, fmt.Sprintf("%d refused", c.Refused)})
	}
	if c.Conflicts > 0 {
		more = append(more, Count{refused, fmt.Sprintf("%d in conflict", c.Conflicts)})
	}
	if c.MonthlyCost != "" && c.MonthlyCost != "+0.00" {
		more = append(more, Count{"", c.MonthlyCost + " " + c.Currency + "/month"})
	}
	return objects, more
}

// Line is the last line of a plan.
func (c Counts) Line() string {
	objects, more := c.Parts()
	return strings.Join(append([]string{"Plan: " + strings.Join(texts(objects), ", ")}, texts(more)...), "; ")
}

// texts are those of counts.
func texts(counts []Count) (all []string) {
	for _, c := range counts {
		all = append(all, c.Text)
	}
	return all
}

// oneAtATime says how many go at once, of more than one.
func oneAtATime(n, atOnce int) string {
	switch {
	case n < 2:
		return ""
	case atOnce < 2:
		return ", one at a time"
	}
	return fmt.Sprintf(", at most %d workers at once", atOnce)
}

func several(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
