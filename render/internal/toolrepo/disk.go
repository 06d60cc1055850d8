package toolrepo

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

// diskSelector is what the disk of a node is like, as Talos writes it up to contract
// 1.13; nil if a path says which one it is, or an expression.
func diskSelector(n Node) *yaml.Node {
	s := n.DiskSelector
	if s == (schemas.DiskSelector{}) || s.Match != "" {
		return nil
	}
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range [][2]string{
		{"size", s.Size}, {"model", s.Model}, {"serial", s.Serial}, {"modalias", s.Modalias},
		{"uuid", s.UUID}, {"wwid", s.WWID}, {"type", s.Type}, {"busPath", s.BusPath},
	} {
		if f[1] != "" {
			m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: f[0]}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: f[1]})
		}
	}
	return m
}
