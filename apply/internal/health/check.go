package health

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
)

// Check judges. Of the nodes that are named nothing is expected: somebody works
// on them, or they are on their way out. What they have still counts where it
// concerns others: their members of etcd count for its quorum.
func Check(f Facts, except ...string) Report {
	c := &checker{facts: f, except: except}
	for _, n := range f.Nodes {
		if !c.spared(n.Name) {
			c.node(n)
		}
	}
	c.etcd()
	c.kubernetes()
	c.versions()
	c.report.sort()
	return c.report
}

type checker struct {
	facts  Facts
	except []string
	report Report
}

func (c *checker) spared(name string) bool { return slices.Contains(c.except, name) }

// node checks what a node says of itself.
func (c *checker) node(n Node) {
	if n.Err != nil {
		c.report.add(Reached, n.Name, Failed, "%s", oneLine(n.Err))
		return
	}
	c.report.add(Reached, n.Name, OK, "")
	if n.Status.Stage != node.StageRunning {
		c.report.add(Stage, n.Name, Failed, "it is %s", n.Status.Stage)
	} else {
		c.report.add(Stage, n.Name, OK, "")
	}
	c.conditions(n)
	c.services(n)
}

// conditions are those that Talos itself demands of a node that is ready. It
// looks at them while a node starts or runs; that the node is ready in
// Kubernetes, its API is asked for.
func (c *checker) conditions(n Node) {
	if n.Status.Stage != node.StageRunning && n.Status.Stage != node.StageBooting {
		return
	}
	conditions := []struct{ name, check string }{{"time", Time}, {"network", Network}}
	if n.ControlPlane {
		conditions = append(conditions, struct{ name, check string }{node.StaticPods, StaticPods})
	}
	for _, condition := range conditions {
		i := slices.IndexFunc(n.Status.State.Unmet, func(u node.Unmet) bool { return u.Name == condition.name })
		if i < 0 {
			c.report.add(condition.check, n.Name, OK, "")
		} else {
			c.report.add(condition.check, n.Name, Failed, "%s", n.Status.State.Unmet[i].Reason)
		}
	}
}

// running are the states of a service that are well: it runs, or was to run
// once and has done so.
var running = []string{"Running", "Finished", "Skipped"}

// services checks that what a node cannot do without runs, and that nothing
// that has a check of its own fails it.
func (c *checker) services(n Node) {
	required := []string{"apid", "kubelet"}
	if n.ControlPlane {
		required = append(required, "etcd", "trustd")
	}
	var wrong []string
	for _, s := range n.Services {
		switch {
		case s.Checked && !s.Healthy && s.State == "Running":
			wrong = append(wrong, service(s.Name+" is not healthy", s.Message))
		case !slices.Contains(running, s.State):
			wrong = append(wrong, service(s.Name+" is "+s.State, s.Message))
		}
	}
	for _, name := range required {
		if s, ok := n.service(name); !ok {
			wrong = append(wrong, name+" is missing")
		} else if s.State == "Finished" || s.State == "Skipped" {
			wrong = append(wrong, service(name+" is "+s.State, s.Message))
		}
	}
	if len(wrong) > 0 {
		c.report.add(Services, n.Name, Failed, "%s", strings.Join(wrong, ", "))
		return
	}
	c.report.add(Services, n.Name, OK, "")
}

func service(what, why string) string {
	if why == "" {
		return what
	}
	return fmt.Sprintf("%s (%s)", what, strings.Join(strings.Fields(why), " "))
}

// kubernetes checks what the Kubernetes API says.
func (c *checker) kubernetes() {
	k := c.facts.Kubernetes
	if k.Err != nil {
		c.report.add(API, "", Failed, "%s", oneLine(k.Err))
		return
	}
	c.report.add(API, "", OK, "")
	network := haveNetwork(k.Nodes)
	for _, n := range c.facts.Nodes {
		if c.spared(n.Name) {
			continue
		}
		i := slices.IndexFunc(k.Nodes, func(k KubeNode) bool { return k.Name == n.Name })
		if i < 0 {
			c.report.add(Registered, n.Name, Failed, "Kubernetes does not know it")
			continue
		}
		c.report.add(Registered, n.Name, OK, "")
		c.ready(k.Nodes[i], network)
	}
	if !network {
		c.report.add(Ready, "", Skipped, "there is no CNI yet: no node can be ready")
	}
}

func (c *checker) ready(k KubeNode, network bool) {
	switch {
	case !k.Ready && k.NoNetwork && !network:
	case !k.Ready:
		c.report.add(Ready, k.Name, Failed, "%s", strings.Join(strings.Fields(k.Message), " "))
	case k.Cordoned:
		c.report.add(Ready, k.Name, Warning, "it is cordoned: no pods are placed on it")
	default:
		c.report.add(Ready, k.Name, OK, "")
	}
}

// haveNetwork reports whether there is a CNI: without one no node is ready, and
// each says so.
func haveNetwork(nodes []KubeNode) bool {
	return len(nodes) == 0 || slices.ContainsFunc(nodes, func(k KubeNode) bool { return k.Ready || !k.NoNetwork })
}

// versions says which versions of Talos run, if there are several: that is so
// in the middle of an upgrade, and no illness.
func (c *checker) versions() {
	by := map[string][]string{}
	for _, n := range c.facts.Nodes {
		if n.Err == nil {
			by[n.Version] = append(by[n.Version], n.Name)
		}
	}
	var all, parts []string
	for version := range by {
		all = append(all, version)
	}
	slices.Sort(all)
	switch len(all) {
	case 0:
	case 1:
		c.report.add(Versions, "", OK, "%s", all[0])
	default:
		for _, version := range all {
			parts = append(parts, fmt.Sprintf("%s on %s", version, strings.Join(by[version], ", ")))
		}
		c.report.add(Versions, "", Warning, "several: %s", strings.Join(parts, "; "))
	}
}

// oneLine is what an error says, without its hint.
func oneLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
