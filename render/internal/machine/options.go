package machine

import (
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Option is a value of cluster.yaml with the place where it is set; a value
// that follows from others has the place of what it follows from.
type Option struct {
	Value string
	Pos   diag.Pos
}

// OptionMap is a map of cluster.yaml, with a place for each value.
type OptionMap map[string]Option

// NodeTaint is a Kubernetes node taint.
type NodeTaint struct {
	Key, Value, Effect string
	Pos                diag.Pos
}

// NodeOptions are the options of cluster.yaml that become a part of a machine
// configuration, for a pool or for one node.
type NodeOptions struct {
	Hostname    Option
	Labels      OptionMap
	Annotations OptionMap
	Taints      []NodeTaint
	NodeCIDRs   []Option // subnets that hold the node's own address

	Links   []Link
	Ingress IngressOptions
	Disk    DiskSelector
	Volumes []AttachedVolume

	Talos      TalosOptions
	Kubernetes KubernetesOptions
}

// OptionsLayer is the name of the layer that options make, for people.
const OptionsLayer = "cluster.yaml"

// OptionsPatch turns options into a patch, in the documents that a version
// contract has for them. The file is where the options are, for positions. It
// returns nil if there is nothing to set.
func OptionsPatch(file string, o NodeOptions, role Role, contract string) (*Patch, error) {
	vc, err := parseContract(contract)
	if err != nil {
		return nil, err
	}
	b := &optionBuilder{file: file, options: o, role: role, vc: vc, docs: map[ID]*yaml.Node{}}
	nodeWriter{b}.hostname()
	nodeWriter{b}.kubernetesNode()
	linkWriter{b}.links()
	linkWriter{b}.ingress()
	diskWriter{b}.install()
	diskWriter{b}.volumes()
	talosWriter{b}.talos()
	kubernetesWriter{b}.kubernetes()
	if err := b.problems.Err(); err != nil || len(b.order) == 0 {
		return nil, err
	}
	p := &Patch{File: file, Layer: OptionsLayer}
	for _, id := range b.order {
		pd := &patchDoc{id: id, shown: id, node: b.docs[id], directives: hasDirectives(b.docs[id]), zero: zeroLeaves(b.docs[id])}
		typed, err := decodeNode(file, id, stripDirectives(pd.node))
		if err != nil {
			return nil, err
		}
		if !pd.directives {
			pd.typed = typed
		}
		p.docs = append(p.docs, pd)
	}
	return p, b.taint(p)
}

// taint tells the patch where it holds secrets.
func (b *optionBuilder) taint(p *Patch) error {
	if len(b.secret) == 0 {
		return nil
	}
	p.taint = newTaint()
	for _, pd := range p.docs {
		w := taintWalk{
			taint: p.taint, id: pd.id, secret: map[string]bool{}, readable: map[string]bool{},
			isSecret: func(n *yaml.Node) bool { return b.secret[n] },
		}
		w.walk(pd.node, nil)
		if len(w.secret) == 0 {
			continue
		}
		if err := w.canonical(pd); err != nil {
			return err
		}
	}
	return nil
}

type optionBuilder struct {
	file    string
	options NodeOptions
	role    Role
	vc      *talosconfig.VersionContract
	docs    map[ID]*yaml.Node
	order   []ID
	secret  map[*yaml.Node]bool // values that are

	problems diag.List
}

// nodeWriter writes what is of one node: its name, and what Kubernetes knows of it.
type nodeWriter struct{ *optionBuilder }

// hostname sets the node's name. Its document makes one up unless told not to.
func (b nodeWriter) hostname() {
	p, o := b.at("machine.network.hostname"), b.options.Hostname
	b.text(p, o)
	if o.Value != "" && p.moved() {
		b.text(place{id: p.id}, Option{"off", o.Pos}, "auto")
	}
}

// kubernetesNode sets labels, annotations, taints, and the subnets of the
// node's address.
func (b nodeWriter) kubernetesNode() {
	b.texts(b.at("machine.nodeLabels"), b.options.Labels)
	b.texts(b.at("machine.nodeAnnotations"), b.options.Annotations)
	b.addAll(b.at("machine.kubelet.nodeIP.validSubnets"), b.options.NodeCIDRs)
	b.taints()
}

// taints are set by Talos on control planes. A worker may not change its own
// taints (Kubernetes' NodeRestriction), so its kubelet registers with them.
func (b nodeWriter) taints() {
	seen := map[string]bool{}
	for _, t := range b.options.Taints {
		if b.role == ControlPlane && seen[t.Key] {
			b.problems.Add(diag.New(t.Pos, "a second taint with the key %q", t.Key).
				WithHint("Talos sets the taints of control planes, and has one for each key"))
			continue
		}
		seen[t.Key] = true
		value := t.Effect
		if t.Value != "" {
			value = t.Value + ":" + t.Effect
		}
		if b.role == ControlPlane {
			b.text(b.at("machine.nodeTaints"), Option{value, t.Pos}, t.Key)
		} else {
			b.append(b.at("machine.kubelet.extraConfig.registerWithTaints"), t.item())
		}
	}
}

// item is the taint in the configuration of a kubelet.
func (t NodeTaint) item() *yaml.Node {
	item := mappingNode(t.Pos)
	put(item, "key", stringNode(t.Key, t.Pos))
	if t.Value != "" {
		put(item, "value", stringNode(t.Value, t.Pos))
	}
	put(item, "effect", stringNode(t.Effect, t.Pos))
	return item
}

// texts sets the values of a map, also those that are empty.
func (b *optionBuilder) texts(p place, values OptionMap) {
	for _, key := range sortedKeys(values) {
		b.put(p, stringNode(values[key].Value, values[key].Pos), key)
	}
}
