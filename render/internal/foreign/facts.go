package foreign

import (
	"net/netip"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// Value is the text at some keys of a document of a configuration; empty if there is
// none. A kind that has several documents is looked through for the first.
func Value(c *machine.Config, kind string, path ...string) string {
	if n := Node(c, kind, path...); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// Values are the texts of a list there.
func Values(c *machine.Config, kind string, path ...string) (values []string) {
	n := Node(c, kind, path...)
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range n.Content {
		values = append(values, item.Value)
	}
	return values
}

// Node is the value itself, nil if there is none.
func Node(c *machine.Config, kind string, path ...string) *yaml.Node {
	for _, d := range c.Documents() {
		if d.ID.Kind != kind {
			continue
		}
		n, err := d.Tree()
		if err != nil {
			continue
		}
		for _, key := range path {
			n = residue.Child(n, key)
		}
		if n != nil {
			return n
		}
	}
	return nil
}

// hostname is the name that a configuration gives its machine; empty if Talos makes one.
func hostname(c *machine.Config) string {
	if name := Value(c, "HostnameConfig", "hostname"); name != "" {
		return name
	}
	return Value(c, machine.MainID.Kind, "machine", "network", "hostname")
}

var (
	notInName = regexp.MustCompile(`[^a-z0-9]+`)
	macText   = regexp.MustCompile(`\b[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}\b`)
)

// nodeName makes a name for a node of a hostname, or of the name of a file: the part
// before the first dot.
func nodeName(text string) string {
	name, _, _ := strings.Cut(text, ".")
	return Label(name, 63)
}

// Label is the nearest text to another of at most so many lower-case letters, digits and
// inner hyphens; empty if nothing of it can be taken.
func Label(text string, longest int) string {
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(text), "-"), "-")
	return strings.Trim(name[:min(len(name), longest)], "-")
}

// macOf is the only MAC address that the network of a configuration names; empty if
// there is none, or more than one.
func macOf(c *machine.Config) string {
	found := ""
	for _, d := range c.Documents() {
		root, err := d.Tree()
		if err != nil {
			continue
		}
		switch {
		case d.ID.IsMain():
			root = residue.Child(residue.Child(root, "machine"), "network")
		case !strings.HasSuffix(d.ID.Kind, "LinkConfig") && d.ID.Kind != "LinkAliasConfig":
			continue
		}
		text, err := yaml.Marshal(root)
		if err != nil || root == nil {
			continue
		}
		for _, mac := range macText.FindAllString(string(text), -1) {
			mac = strings.ToLower(mac)
			if found != "" && found != mac {
				return ""
			}
			found = mac
		}
	}
	return found
}

// addressOf is the first address that a configuration gives its machine; empty if DHCP
// does.
func addressOf(c *machine.Config) string {
	var found []string
	for _, d := range c.Documents() {
		root, err := d.Tree()
		if err != nil {
			continue
		}
		if strings.HasSuffix(d.ID.Kind, "LinkConfig") || strings.HasSuffix(d.ID.Kind, "BondConfig") || d.ID.Kind == "VLANConfig" || d.ID.Kind == "BridgeConfig" {
			for _, a := range items(residue.Child(root, "addresses")) {
				found = append(found, Text(a, "address"))
			}
		}
		for _, link := range items(residue.Child(residue.Child(residue.Child(root, "machine"), "network"), "interfaces")) {
			for _, a := range items(residue.Child(link, "addresses")) {
				found = append(found, a.Value)
			}
		}
	}
	for _, text := range found {
		address, _, _ := strings.Cut(text, "/")
		if ip, err := netip.ParseAddr(address); err == nil && !ip.IsLoopback() {
			return ip.String()
		}
	}
	return ""
}

func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// Text is the text of a key of a mapping; empty if there is none.
func Text(n *yaml.Node, key string) string {
	if v := residue.Child(n, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}
