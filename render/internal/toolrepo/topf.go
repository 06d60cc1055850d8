package toolrepo

import (
	"bytes"
	"strings"

	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// Topf is topf: topf.yaml, secrets.yaml, and folders of patches.
type Topf struct{}

func (Topf) name() string { return "topf" }

// topfContract is the newest one of the Talos library that topf 0.5 is made with.
const topfContract = 13

func (Topf) check(c Cluster) error { return newestContract(c, "topf 0.5", topfContract) }

// level: all, role, then what a node has for itself.
func (Topf) level(l residue.Layer) int { return min(rankOf(l), 2) }

func (t Topf) base(b *builder, n Node) (machine.GenConfig, []machine.Source, error) {
	c := b.Cluster
	return machine.GenConfig{
		ClusterName: c.Name, Endpoint: c.Endpoint, KubernetesVersion: c.Kubernetes, Contract: c.talosVersion(), DNSDomain: usualDomain,
	}, []machine.Source{imagePatch(c.installImage(n))}, nil
}

// unfit: a text with ref+ would be looked up elsewhere.
func (Topf) unfit(data []byte) string {
	if bytes.Contains(data, []byte("ref+")) {
		return "topf would take what begins with ref+ for a reference"
	}
	return ""
}

// topfFile is topf.yaml.
type topfFile struct {
	ClusterName       string     `yaml:"clusterName"`
	ClusterEndpoint   string     `yaml:"clusterEndpoint"`
	KubernetesVersion string     `yaml:"kubernetesVersion"`
	TalosVersion      string     `yaml:"talosVersion"`
	SchematicID       string     `yaml:"schematicId"`
	Factory           string     `yaml:"factory"`
	Platform          string     `yaml:"platform"`
	SecretsPath       string     `yaml:"secretsPath"`
	Nodes             []topfNode `yaml:"nodes"`
}

type topfNode struct {
	Host        string `yaml:"host"`
	IP          string `yaml:"ip,omitempty"`
	Role        string `yaml:"role"`
	SchematicID string `yaml:"schematicId,omitempty"`
	Platform    string `yaml:"platform,omitempty"`
	SecureBoot  bool   `yaml:"secureboot,omitempty"`
}

// topfRoles are the roles of nodes, as topf calls them.
var topfRoles = map[string]string{string(machine.ControlPlane): "control-plane", string(machine.Worker): "worker"}

func (t Topf) files(b *builder) (map[string]File, []string, error) {
	c := b.Cluster
	files := map[string]File{}
	main := topfFile{
		ClusterName: c.Name, ClusterEndpoint: c.Endpoint, KubernetesVersion: c.Kubernetes, TalosVersion: strings.TrimPrefix(c.talosVersion(), "v"),
		SchematicID: b.frequent(func(n Node) string { return t.schematic(files, n) }), Factory: c.Factory,
		Platform: b.frequent(func(n Node) string { return n.Platform }), SecretsPath: "secrets.sops.yaml",
	}
	for _, n := range b.Nodes {
		node := topfNode{Host: n.Name, IP: n.Address, Role: topfRoles[n.Role], SecureBoot: n.SecureBoot}
		if n.Platform != main.Platform {
			node.Platform = n.Platform
		}
		if own := t.schematic(files, n); own != main.SchematicID {
			node.SchematicID = own
		}
		main.Nodes = append(main.Nodes, node)
		t.put(files, "node/"+n.Name, b.piecesIn(func(p piece) bool { return rankOf(p.layer) >= 2 && p.of(n) }))
	}
	for _, l := range []residue.Layer{residue.Common, "controlplane", "worker"} {
		dir := "all"
		if l != residue.Common {
			dir = topfRoles[string(l)]
		}
		t.put(files, dir, b.piecesIn(func(p piece) bool { return p.layer == l }))
	}
	files["topf.yaml"] = File{Data: withComment("Made of an environment of talosgen's. `topf render` makes the machine\nconfigurations.", encode(main))}
	bundle, err := b.Bundle.YAML()
	files[main.SecretsPath] = File{Data: bundle, Secret: true}
	return files, nil, err
}

// schematic is how a node names its schematic: as a file that says what it consists of, if
// that is known and more than nothing.
func (Topf) schematic(files map[string]File, n Node) string {
	if n.Schematic.Text == "" || plain(n) {
		return n.Schematic.ID
	}
	name := "schematics/" + n.Schematic.ID[:8] + ".yaml"
	files[name] = File{Data: []byte(n.Schematic.Text)}
	return "@" + name
}

// put adds the files of a folder.
func (Topf) put(files map[string]File, dir string, pieces []piece) {
	for _, p := range place(dir, pieces) {
		files[p.path] = File{Data: p.text, Secret: p.secret}
	}
}

// piecesIn are some pieces, in order.
func (b *builder) piecesIn(in func(piece) bool) (some []piece) {
	for _, p := range b.pieces {
		if in(p) {
			some = append(some, p)
		}
	}
	b.byOrder(some)
	return some
}

// frequent is the text that the most nodes have.
func (b *builder) frequent(of func(Node) string) (most string) {
	count := map[string]int{}
	for _, n := range b.Nodes {
		text := of(n)
		count[text]++
		if count[text] > count[most] {
			most = text
		}
	}
	return most
}
