package fit

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/foreign"
)

// Unknown begins the serial number that stands for what a machine is known by, where a
// configuration does not say it. No machine has it, so none is taken for the node.
const Unknown = "fill-in-"

// nodes are the options of the pools.
func (m *builder) nodes() (s settings) {
	var pools []string
	members := map[string][]foreign.Machine{}
	for _, o := range m.Origin.Machines {
		if len(members[o.Pool]) == 0 && !isControlPlane(o) {
			pools = append(pools, o.Pool)
		}
		members[o.Pool] = append(members[o.Pool], o)
	}
	for pool, machines := range members {
		if isControlPlane(machines[0]) {
			if len(machines)%2 == 0 {
				s = append(s, setting{path: "nodes.controlPlane.acknowledgeEvenCount", value: true})
			}
			for _, f := range m.poolFields(machines) {
				s = append(s, setting{path: "nodes.controlPlane." + f.name, value: f.value})
			}
			delete(members, pool)
		}
	}
	var workers []any
	for _, pool := range pools {
		workers = append(workers, mappingOf(append(fields{field("name", pool)}, m.poolFields(members[pool])...)))
	}
	if len(workers) > 0 {
		s = append(s, setting{path: "nodes.workers.nodepools", value: workers})
	}
	return s
}

// fields are keys in order, with their values.
type fields []keyed

type keyed struct {
	name  string
	value any
	edit  string // what is to be put there by hand
}

// found is an option that the source tells, or what stands for it until somebody says it.
func found(name string, value, otherwise any, known bool, edit string) keyed {
	if known {
		return field(name, value)
	}
	return keyed{name, otherwise, mark + edit}
}

// mark begins the comment of what is to be put there by hand.
const mark = "# EDIT: "

// Marked reports whether something in a text of cluster.yaml is still to be put there by
// hand.
func Marked(text []byte) bool { return bytes.Contains(text, []byte(mark)) }

// mappingOf keeps their order.
func mappingOf(f fields) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, x := range f {
		value, err := nodeOf(x.value)
		if err != nil {
			panic(err) // it is made of texts, lists and mappings
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: x.name, HeadComment: x.edit}, value)
	}
	return n
}

// poolFields are the options of a pool of some machines.
func (m *builder) poolFields(machines []foreign.Machine) (f fields) {
	disk, same := shared(machines, diskOf)
	f = append(f, disk...)
	image, own := imageFields(m.Origin.Machines, machines)
	f = append(f, image...)
	labels := inCommon(m.Origin, machines)
	if len(labels) > 0 {
		f = append(f, field("labels", labels))
	}
	var nodes []any
	for _, o := range machines {
		n := fields{field("name", o.Name)}
		n = append(n, found("match", o.Match(), map[string]string{"serial": Unknown + o.Name}, o.Match() != nil, "mac, uuid or serial of the machine"))
		n = append(n, found("bootAddress", o.Address, m.placeholder(o.Name), o.Address != "", "its address"))
		if !same {
			n = append(n, diskOf(o)...)
		}
		n = append(n, own(o)...)
		more := labelsOf(m.Origin, o)
		maps.DeleteFunc(more, func(key, _ string) bool { return has(labels, key) })
		if len(more) > 0 {
			n = append(n, field("labels", more))
		}
		nodes = append(nodes, mappingOf(n))
	}
	return append(f, field("nodes", nodes))
}

func field(name string, value any) keyed { return keyed{name: name, value: value} }

// nobodys are networks that are for documentation only: nothing answers there.
var nobodys = []string{"192.0.2.", "198.51.100.", "203.0.113."}

// placeholder stands for the address of a machine.
func (m *builder) placeholder(name string) string {
	i := slices.IndexFunc(m.Origin.Machines, func(o foreign.Machine) bool { return o.Name == name })
	return nobodys[i/254%len(nobodys)] + strconv.Itoa(1+i%254)
}
