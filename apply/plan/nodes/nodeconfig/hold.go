package nodeconfig

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// edit sets or, without a node, removes a value of Git's configuration. Its
// path has no indexes.
type edit struct {
	id   ID
	path yamltext.Path
	node *yaml.Node
}

// hold keeps what the node has in a place.
func (c *comparison) hold(l leaf, in place) {
	e := edit{id: l.id, path: root(in, l)}
	if slices.ContainsFunc(c.edits, func(o edit) bool { return o.id == e.id && slices.Equal(o.path, e.path) }) {
		return
	}
	if d := c.active.find(l.id); d != nil {
		e.node = at(d.root, keysOf(e.path)...)
	}
	c.edits = append(c.edits, e)
}

func keysOf(path yamltext.Path) []string {
	keys := make([]string, len(path))
	for i, e := range path {
		keys[i] = e.Key
	}
	return keys
}

// components are the images whose tag is the version of Talos, or of a program of
// Kubernetes.
var components = []struct {
	place   place
	talos   bool
	program string
}{
	{place{"", "machine.install.image"}, true, ""},
	{place{"UnattendedInstallConfig", "installer.image"}, true, ""},
	{place{"KubeletConfig", "image"}, false, "kubelet"},
	{place{"KubeAPIServerConfig", "image"}, false, "kube-apiserver"},
	{place{"KubeControllerManagerConfig", "image"}, false, "kube-controller-manager"},
	{place{"KubeSchedulerConfig", "image"}, false, "kube-scheduler"},
	{place{"KubeProxyConfig", "image"}, false, "kube-proxy"},
	{place{"", "machine.kubelet.image"}, false, "kubelet"},
	{place{"", "cluster.apiServer.image"}, false, "kube-apiserver"},
	{place{"", "cluster.controllerManager.image"}, false, "kube-controller-manager"},
	{place{"", "cluster.scheduler.image"}, false, "kube-scheduler"},
	{place{"", "cluster.proxy.image"}, false, "kube-proxy"},
}

// pinned is an edit that gives an image the running version. Without a node it
// cannot be done, for the problem.
type pinned struct {
	edit
	problem string
}

// pin gives a component that the node does not have yet the version that the
// cluster runs; nil if there is nothing to do.
func (c *comparison) pin(p pair, running Running) *pinned {
	if p.desired == nil || p.active != nil {
		return nil
	}
	for _, k := range components {
		if k.place.covers(p.desired.id, p.desired.path) && c.parent(c.active, p.desired.id, k.place) == nil {
			return pin(*p.desired, running, k.talos)
		}
	}
	return nil
}

func pin(l leaf, running Running, talos bool) *pinned {
	version := running.Kubernetes
	if talos {
		version = running.Talos
	}
	repository, tag, ok := cutTag(l.node.Value)
	if version == "" || ok && strings.TrimPrefix(tag, "v") == strings.TrimPrefix(version, "v") {
		return nil
	}
	e := edit{id: l.id, path: l.path}
	if !ok || strings.Contains(l.node.Value, "@") {
		return &pinned{e, fmt.Sprintf("the cluster runs %s, and an image with a digest, or without a tag, cannot be had in that version", version)}
	}
	e.node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: repository + ":v" + strings.TrimPrefix(version, "v")}
	return &pinned{edit: e}
}

// Pin returns the configuration for a node that has none yet, in a cluster that
// may run other versions than Git has: components get those that run. Held
// says which.
func Pin(desired *Config, running Running) (send secret.String, held []Change, err error) {
	c := &comparison{active: &Config{}, desired: desired}
	c.sides()
	var problems diag.List
	if desired.documents() && older(running.Talos, 1, 14) {
		problems.Add(diag.On(desired.name, "the cluster runs Talos %s, which cannot read a configuration with documents of Talos 1.14", running.Talos).
			WithHint("finish the upgrade of the cluster before you add nodes"))
	}
	for _, p := range differ(c.active, desired) {
		pin := c.pin(p, running)
		if pin == nil {
			continue
		}
		change := c.change(p)
		if pin.node == nil {
			problems.Add(diag.On(desired.name, "%s %s: %s", change.Document, change.Path, pin.problem).
				WithHint("finish the upgrade of the cluster before you add nodes, or name the image by its tag"))
			continue
		}
		change.Action, change.From, change.Class, change.Reason = Update, c.masker.String(pin.node.Value), Upgrade, "a new node gets the running version"
		change.Version = componentAt(p)
		held, c.edits = append(held, change), append(c.edits, pin.edit)
	}
	if err := problems.Err(); err != nil {
		return secret.String{}, nil, err
	}
	text, err := edited(desired, c.edits)
	return secret.New(string(text)), held, err
}

// older reports whether a version is known and before major.minor.
func older(version string, major, minor int) bool {
	var a, b int
	n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &a, &b)
	return n == 2 && (a < major || a == major && b < minor)
}

// cutTag cuts the tag off an image; a colon before the last slash is a port.
func cutTag(image string) (repository, tag string, ok bool) {
	image, _, _ = strings.Cut(image, "@")
	i := strings.LastIndexByte(image, ':')
	if i < 0 || i < strings.LastIndexByte(image, '/') {
		return image, "", false
	}
	return image[:i], image[i+1:], true
}

// edited returns the text of a configuration with some values changed. What is
// not changed stays as it is, to the byte, in documents where each change puts
// one text in place of another; other documents are written anew.
func edited(c *Config, edits []edit) ([]byte, error) {
	var out bytes.Buffer
	separate := func() {
		if out.Len() > 0 {
			out.WriteString("---\n")
		}
	}
	for _, d := range c.docs {
		text := d.text
		if own := editsOf(edits, d.id); len(own) > 0 {
			var err error
			if text, err = d.edited(own); err != nil {
				return nil, c.problem("%s: %v", d.id, err)
			}
		}
		separate()
		out.Write(text)
		if !bytes.HasSuffix(text, []byte("\n")) {
			out.WriteByte('\n')
		}
	}
	var done []ID
	for _, e := range edits {
		if c.find(e.id) != nil || e.node == nil || slices.Contains(done, e.id) {
			continue
		}
		done = append(done, e.id)
		text, err := empty(e.id).encoded(editsOf(edits, e.id))
		if err != nil {
			return nil, c.problem("%s: %v", e.id, err)
		}
		separate()
		out.Write(text)
	}
	return out.Bytes(), nil
}

func editsOf(edits []edit, id ID) (own []edit) {
	for _, e := range edits {
		if e.id == id {
			own = append(own, e)
		}
	}
	return own
}

// empty is a document that Git does not have any more, and a node has to keep
// something of.
func empty(id ID) document {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, kv := range [][2]string{{"apiVersion", id.APIVersion}, {"kind", id.Kind}, {"name", id.Name}} {
		if kv[1] != "" {
			root.Content = append(root.Content, textNode(kv[0]), textNode(kv[1]))
		}
	}
	return document{id: id, root: root}
}

func textNode(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// edited changes a document in its text, or else writes it anew.
func (d document) edited(edits []edit) ([]byte, error) {
	lines := bytes.SplitAfter(bytes.Clone(d.text), []byte("\n"))
	for _, e := range edits {
		old := at(d.root, keysOf(e.path)...)
		if old == nil || e.node == nil || !inLine(lines, old, e.node) {
			return d.encoded(edits)
		}
	}
	return bytes.Join(lines, nil), nil
}

// simple are texts without anything that YAML could take for more.
var simple = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./@-]*(:[A-Za-z0-9_][A-Za-z0-9_./@-]*)*$`)

// inLine puts one simple text in the place of another.
func inLine(lines [][]byte, old, node *yaml.Node) bool {
	if old.Kind != yaml.ScalarNode || node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" || old.ShortTag() != "!!str" ||
		!simple.MatchString(old.Value) || !simple.MatchString(node.Value) || !plain(node.Value) || old.Line > len(lines) {
		return false
	}
	line, column := lines[old.Line-1], old.Column-1
	for _, quote := range []string{"", "'", `"`} {
		was := quote + old.Value + quote
		if column <= len(line) && bytes.HasPrefix(line[column:], []byte(was)) {
			lines[old.Line-1] = slices.Concat(line[:column], []byte(quote+node.Value+quote), line[column+len(was):])
			return true
		}
	}
	return false
}

// plain reports whether a text is one without quotes: true is none.
func plain(value string) bool {
	n := yaml.Node{Kind: yaml.ScalarNode, Value: value}
	return n.ShortTag() == "!!str"
}

// encoded writes a document anew, with its values changed.
func (d document) encoded(edits []edit) ([]byte, error) {
	root := clone(d.root)
	for _, e := range edits {
		set(root, keysOf(e.path), e.node)
	}
	var b bytes.Buffer
	w := yaml.NewEncoder(&b)
	w.SetIndent(4)
	if err := w.Encode(root); err != nil {
		return nil, fmt.Errorf("it cannot be written with what the node has")
	}
	return b.Bytes(), w.Close()
}

func clone(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i := range n.Content {
		c.Content[i] = clone(n.Content[i])
	}
	return &c
}

// set sets the value below some keys, or removes it.
func set(n *yaml.Node, keys []string, value *yaml.Node) {
	i := keyAt(n, keys[0])
	switch {
	case len(keys) > 1 && i < 0 && value == nil:
	case len(keys) > 1:
		if i < 0 || n.Content[i+1].Kind != yaml.MappingNode {
			n.Content = append(n.Content, textNode(keys[0]), &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"})
			i = len(n.Content) - 2
		}
		set(n.Content[i+1], keys[1:], value)
	case value == nil && i >= 0:
		n.Content = slices.Delete(n.Content, i, i+2)
	case value == nil:
	case i >= 0:
		n.Content[i+1] = clone(value)
	default:
		n.Content = append(n.Content, textNode(keys[0]), clone(value))
	}
}
