package nodeconfig

import (
	"fmt"
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

// inList reports whether a path leads into a list. No component is in one: Talos
// refuses a configuration with such.
func inList(path yamltext.Path) bool {
	return slices.ContainsFunc(path, func(e yamltext.Elem) bool { return e.Index >= 0 })
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
	if p.desired == nil || p.active != nil || inList(p.desired.path) {
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
		if p.desired != nil && early(*p.desired, running) {
			change := c.change(p)
			change.Action, change.Class, change.Reason = Update, Upgrade, tooEarly
			held = append(held, change)
			c.hold(*p.desired, argument(*p.desired))
			continue
		}
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
