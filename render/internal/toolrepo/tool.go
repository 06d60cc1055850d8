package toolrepo

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// Tool is a program that makes machine configurations of a repository of its own.
type Tool interface {
	name() string
	// check refuses clusters that the program cannot make.
	check(Cluster) error
	// level orders the layers that the program applies one after another.
	level(residue.Layer) int
	// base is what the program makes of a node without any patch.
	base(*builder, Node) (machine.GenConfig, []machine.Source, error)
	// unfit says why a patch cannot be a file of the repository; empty if it can.
	unfit(data []byte) string
	files(*builder) (map[string]File, []string, error)
}

// talosVersion is the version that programs are told: they make configurations of its
// contract.
func (c Cluster) talosVersion() string {
	if versions.Minor(c.Talos) == versions.Minor(c.Contract) {
		return c.Talos
	}
	if r, known := versions.Of(c.Contract); known {
		return r.Talos
	}
	return c.Contract + ".0"
}

// installImage is the image that a node is installed from, as it is named without
// patches.
func (c Cluster) installImage(n Node) string { return c.installer(n) + ":" + c.talosVersion() }

// installer is that image without its version.
func (c Cluster) installer(n Node) string {
	variant := ""
	if n.SecureBoot {
		variant = "-secureboot"
	}
	return fmt.Sprintf("%s/%s-installer%s/%s", c.Factory, n.Platform, variant, n.Schematic.ID)
}

// plain reports whether nothing is added to the image of a node.
func plain(n Node) bool { return strings.TrimSpace(n.Schematic.Text) == "customization: {}" }

// newestContract refuses contracts that a program does not know.
func newestContract(c Cluster, program string, minor int) error {
	if versions.Minor(c.Contract) <= minor {
		return nil
	}
	return diag.On("environment", "has configurations of contract %s, and %s makes them up to v1.%d", c.Contract, program, minor).
		WithHint("set talos.configContract to v1.%d in cluster.yaml, with patches for that, or export --to plain", minor)
}

// imagePatch is the patch with which programs say what is installed.
func imagePatch(image string) machine.Source {
	return patchOf("installer", "machine", "install", "image", image)
}

// patchOf is a patch that sets one text.
func patchOf(file string, path ...string) machine.Source {
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path[len(path)-1]}
	for i := len(path) - 2; i >= 0; i-- {
		value = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: path[i]}, value}}
	}
	return machine.Source{File: file, Data: encode(value)}
}

// encode writes YAML that was made here.
func encode(value any) []byte {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(value); err != nil {
		panic("a value of texts cannot be encoded: " + err.Error())
	}
	return out.Bytes()
}

// withComment puts a comment before a file.
func withComment(text string, data []byte) []byte {
	return append([]byte("# "+strings.ReplaceAll(text, "\n", "\n# ")+"\n"), data...)
}
