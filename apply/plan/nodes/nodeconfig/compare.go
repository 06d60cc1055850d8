package nodeconfig

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// Action is what happens to a value.
type Action string

// The actions.
const (
	Add    Action = "add"
	Update Action = "update"
	Remove Action = "remove"
)

// Change is one value that differs. Its texts are masked.
type Change struct {
	Document string `json:"document"` // KubeletConfig, VolumeConfig/STATE, v1alpha1
	Path     string `json:"path"`     // config.kubeReserved.cpu; empty: all of the document
	Action   Action `json:"action"`
	From     string `json:"from,omitempty"` // what the node has
	To       string `json:"to,omitempty"`   // what Git has
	Class    Class  `json:"class"`
	Reason   string `json:"reason,omitempty"`
	// If nothing but a version is held: [Talos] or [Kubernetes].
	Version string `json:"version,omitempty"`
}

// String prints ~ KubeletConfig config.cpu: 1 -> 2.
func (c Change) String() string {
	text := strings.TrimRight(c.Document+" "+c.Path, " ")
	switch c.Action {
	case Add:
		return "+ " + text + ": " + c.To
	case Remove:
		return "- " + text + ": " + c.From
	default:
		return "~ " + text + ": " + c.From + " -> " + c.To
	}
}

// Whole reports whether the change stands for all of a configuration, of which
// nothing is sent: it is of another contract than what the node has.
func (c Change) Whole() bool {
	return c.Document == mainDocument && c.Path == "" && c.Class == Upgrade
}

// mainDocument is how changes name the document without a kind.
const mainDocument = "v1alpha1"

// Difference is what one node's configuration lacks.
type Difference struct {
	// What is sent, and what stands against it: classes up to [Reboot], and
	// [Refused].
	Changes []Change
	// What stays as the node has it: [Upgrade] and [Replacement].
	Held []Change
	// The configuration to send: Git's text, in which only what is held is the
	// node's. Zero if there is nothing to send, or something is refused.
	Send secret.String
}

// Class is the worst class of what is sent; empty if nothing is.
func (d *Difference) Class() (worst Class) {
	for _, c := range d.Changes {
		if worst == "" {
			worst = c.Class
		}
		worst = Worse(worst, c.Class)
	}
	return worst
}

// Running are the versions that the cluster runs, such as v1.14.1 and v1.37.0;
// empty if they are not known, or nothing runs yet.
type Running struct {
	Talos      string
	Kubernetes string
	// The version of Talos that the node itself runs, which another program may have
	// upgraded: Talos does not note that in its configuration.
	Node string
}

// Compare compares what a node has with what Git has for it. What it returns
// refers to neither. An error means that the configurations cannot be compared.
func Compare(active, desired *Config, running Running) (*Difference, error) {
	c := &comparison{active: active, desired: desired}
	if active.sameText(desired) {
		return &Difference{}, nil
	}
	c.sides()
	if active.documents() != desired.documents() {
		return &Difference{Held: []Change{contractMove(active)}}, nil
	}
	for _, p := range differ(active, desired) {
		c.judge(p, running)
	}
	if class := c.result.Class(); class == "" || class == Refused {
		return &c.result, nil
	}
	text, err := edited(desired, c.edits)
	if err != nil {
		return nil, err
	}
	c.result.Send = secret.New(string(text))
	return &c.result, nil
}

func (c *Config) sameText(o *Config) bool {
	if len(c.docs) != len(o.docs) {
		return false
	}
	for i := range c.docs {
		if !bytes.Equal(c.docs[i].text, o.docs[i].text) {
			return false
		}
	}
	return true
}

// documents reports whether Kubernetes is configured by documents, as from the
// contract of Talos 1.14 on, and not in the sections of v1alpha1.
func (c *Config) documents() bool { return c.kind("KubeClusterConfig") != nil }

// contractMove stands for a configuration of another contract. It is taken as
// a whole, or not at all, and only upgrade does: an older Talos cannot read it.
func contractMove(active *Config) Change {
	c := Change{Document: mainDocument, Action: Update, Class: Upgrade,
		From: "documents of Talos 1.14", To: "sections of v1alpha1",
		Reason: "the node keeps all of its configuration until an upgrade moves it to the other contract; nothing else of Git's is sent"}
	if !active.documents() {
		c.From, c.To = c.To, c.From
	}
	return c
}

// comparison collects a [Difference].
type comparison struct {
	active, desired *Config
	node, git       *side
	masker          *secret.Masker
	edits           []edit
	result          Difference
}

func (c *comparison) sides() {
	c.node, c.git = newSide(c.active, false), newSide(c.desired, true)
	c.masker = secret.NewMasker()
	for _, values := range [][]string{c.git.secrets, c.node.secrets, c.node.doubtful} {
		for _, v := range values {
			if !c.git.plain[v] { // it stands readable in Git
				c.masker.Add(secret.New(v))
			}
		}
	}
}

// judge decides what happens with one difference.
func (c *comparison) judge(p pair, running Running) {
	l := p.where()
	change := c.change(p)
	class, reason, place := c.classify(p)
	change.Class, change.Reason = class, reason
	if class == Upgrade {
		change.Version = versionOf(p)
	}
	if change.Version == Talos && runs(running.Node, p.desired.node.Value) {
		class, change.Class, change.Reason, change.Version = NoReboot, NoReboot, upgraded, ""
	}
	if p.desired != nil && early(*p.desired, running) {
		class, place = Upgrade, argument(*p.desired)
		change.Class, change.Reason = class, tooEarly
	}
	if class == NoReboot && tokenTakesBoot(l, running) {
		class, change.Class, change.Reason = Reboot, Reboot, "Talos takes it without one from 1.14 on"
	}
	if class == NoReboot && c.restartsPods(l) {
		class, change.Class, change.Reason = Restart, Restart, "all static pods restart"
	}
	if c.renames(p) {
		change.Class, change.Reason = Refused, "the node is registered in Kubernetes by its name"
	}
	if pin := c.pin(p, running); pin != nil && pin.node != nil {
		held := change
		held.Class, held.Reason, held.Version = Upgrade, "a new component gets the running version", componentAt(p)
		held.Action, held.From = Update, c.masker.String(pin.node.Value)
		c.result.Held = append(c.result.Held, held)
		c.edits = append(c.edits, pin.edit)
		change.To = held.From
	} else if pin != nil {
		change.Class, change.Reason = Refused, pin.problem
	} else if class.Held() {
		c.hold(l, place)
	}
	if change.Class.Held() {
		c.result.Held = append(c.result.Held, change)
	} else {
		c.result.Changes = append(c.result.Changes, change)
	}
}

// tokenTakesBoot reports whether a difference is one in the machine token of a node that
// runs a Talos before 1.14, which refuses another one without a reboot.
func tokenTakesBoot(l leaf, running Running) bool {
	return (place{"", "machine.token"}).covers(l.id, l.path) && running.Node != "" && versions.Minor(running.Node) < 14
}

// restartsPods reports whether a difference is one in the bootstrap token of a control
// plane: it is one of the secrets of Kubernetes there, and with another version of these
// all static pods start anew. A worker only joins with it.
func (c *comparison) restartsPods(l leaf) bool {
	return (place{"", "cluster.token"}).covers(l.id, l.path) && c.desired.controlPlane()
}

// runs reports whether a version is known, and is the one of an image.
func runs(version, image string) bool {
	_, tag, tagged := cutTag(image)
	return version != "" && tagged && !strings.Contains(image, "@") && tag == version
}

// change describes a difference, masked.
func (c *comparison) change(p pair) Change {
	l := p.where()
	hideTo := p.desired != nil && c.git.secret(*p.desired)
	hideFrom := hideTo || p.active != nil && c.node.secret(*p.active)
	change := Change{Document: c.masker.String(l.id.String()), Path: c.masker.String(l.path.String()), Action: Update}
	if p.active != nil {
		change.From = c.show(p.active.node, hideFrom)
	} else {
		change.Action = Add
	}
	if p.desired != nil {
		change.To = c.show(p.desired.node, hideTo)
	} else {
		change.Action = Remove
	}
	return change
}

// widest is how long a value may be to be shown, in bytes.
const widest = 200

func (c *comparison) show(n *yaml.Node, hide bool) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "{}"
	case n.Kind == yaml.SequenceNode:
		return "[]"
	case hide:
		return secret.Mask
	case strings.Contains(strings.TrimSpace(n.Value), "\n"):
		return fmt.Sprintf("(%d lines)", strings.Count(strings.TrimSpace(n.Value), "\n")+1)
	case len(n.Value) > widest:
		return fmt.Sprintf("(%d bytes)", len(n.Value))
	case n.Value == "" && n.ShortTag() == "!!str":
		return `""`
	}
	return cmp.Or(c.masker.String(n.Value), "null")
}

// classify finds the rule for a difference.
func (c *comparison) classify(p pair) (Class, string, place) {
	l := p.where()
	if class, reason, is := c.rotated(l); is {
		return class, reason, place{}
	}
	for _, r := range rules {
		if r.place.covers(l.id, l.path) && c.holds(r.only, p, r.place) {
			return r.class, r.reason, r.place
		}
	}
	if l.id.Kind == "" || rebootKinds[l.id.Kind] {
		return Reboot, "Talos reads it when it starts", place{}
	}
	return Reboot, "it is not known to work without", place{}
}

// rebootKinds are documents that are known to need a reboot, by their fields'
// place in v1alpha1 before, or by what they are.
var rebootKinds = map[string]bool{
	"EnvironmentConfig": true, "SecurityProfileConfig": true, "UdevRulesConfig": true, "EtcFileConfig": true, "VolumeConfig": true,
	"PCIDriverRebindConfig": true,
}

func (c *comparison) holds(only condition, p pair, in place) bool {
	id := p.where().id
	switch only {
	case existing:
		return c.active.find(id) != nil && c.desired.find(id) != nil
	case losing:
		return p.active != nil
	case section:
		return c.parent(c.active, id, in) != nil && c.parent(c.desired, id, in) != nil
	}
	return true
}

// parent is the section that a place is in, nil if there is none.
func (c *comparison) parent(config *Config, id ID, in place) *yaml.Node {
	d := config.find(id)
	if d == nil {
		return nil
	}
	keys := strings.Split(in.keys, ".")
	return at(d.root, keys[:len(keys)-1]...)
}

// renames reports whether a difference gives a node another name. The same
// name at another place does not.
func (c *comparison) renames(p pair) bool {
	l := p.where()
	if !(place{"", "machine.network.hostname"}).covers(l.id, l.path) && !(place{"HostnameConfig", ""}).covers(l.id, l.path) {
		return false
	}
	return c.active.hostname() != c.desired.hostname()
}

// hostname is the name that a configuration gives a node; empty if Talos makes
// one.
func (c *Config) hostname() string {
	if d := c.kind("HostnameConfig"); d != nil {
		if name := textOf(d.root, "hostname"); name != "" {
			return name
		}
	}
	if d := c.find(ID{}); d != nil {
		if n := at(d.root, "machine", "network"); n != nil {
			return textOf(n, "hostname")
		}
	}
	return ""
}

// root is the part of a path that a place covers first: cluster.etcd.image for
// what lies below it.
func root(in place, l leaf) yamltext.Path {
	for n := range l.path {
		if in.covers(l.id, l.path[:n]) {
			return l.path[:n]
		}
	}
	return l.path
}
