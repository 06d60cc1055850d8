package config

import (
	"net/netip"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/base"
	"github.com/talosgen/talosgen/schemas"
)

// Facts are a valid facts.yaml.
type Facts struct {
	schemas.Facts
	file string
	pos  map[string]diag.Pos
}

// factsHint is what to do about a facts.yaml that cannot be read.
const factsHint = "apply writes this file: restore it from Git"

// LoadFacts reads the facts.yaml at file, a path in the repository. The error
// holds all problems that the file has.
func LoadFacts(file string, data []byte) (*Facts, error) {
	root, err := base.Parse(file, data)
	if err != nil {
		return nil, err
	}
	f := &Facts{file: file, pos: map[string]diag.Pos{}}
	if root.Kind != yaml.MappingNode {
		return nil, diag.New(diag.Pos{File: file, Line: root.Line, Column: root.Column}, "must be a mapping, not %s", kindOf(root)).WithHint(factsHint)
	}
	var problems diag.List
	d := decoder{file: file, problems: &problems, pos: f.pos}
	d.decode(root, &f.Facts)
	if len(f.Addresses)+len(f.Nodes) == 0 && len(problems) == 0 {
		problems.Add(diag.New(f.Pos(), "neither addresses nor nodes").WithHint(factsHint))
	}
	seen := map[string]bool{}
	for i, n := range f.Nodes {
		if seen[n.Name] {
			problems.Add(diag.New(f.Pos("nodes", strconv.Itoa(i), "name"), "the node %s is here twice", n.Name).WithHint(factsHint))
		}
		seen[n.Name] = true
	}
	for i, a := range f.Addresses {
		problems.Add(f.checkAddress(strconv.Itoa(i), a)...)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// checkAddress wants addresses of the right kind, and at least one.
func (f *Facts) checkAddress(item string, a schemas.FactAddress) diag.List {
	var problems diag.List
	at := func(key string) diag.Pos { return f.Pos("addresses", item, key) }
	if v4, err := netip.ParseAddr(a.IPv4); err == nil && !v4.Is4() {
		problems.Add(diag.New(at("ipv4"), "%s is not an IPv4 address", a.IPv4).WithHint(factsHint))
	}
	if v6, err := netip.ParseAddr(a.IPv6); err == nil && v6.Is4() {
		problems.Add(diag.New(at("ipv6"), "%s is not an IPv6 address", a.IPv6).WithHint(factsHint))
	}
	_, has4 := f.pos[join([]string{"addresses", item, "ipv4"})]
	_, has6 := f.pos[join([]string{"addresses", item, "ipv6"})]
	if !has4 && !has6 {
		problems.Add(diag.New(f.Pos("addresses", item), "an object without addresses").WithHint(factsHint))
	}
	return problems
}

// Pos is the place of a value: see [Config.Pos].
func (f *Facts) Pos(path ...string) diag.Pos {
	if p, ok := f.pos[join(path)]; ok {
		return p
	}
	return diag.Pos{File: f.file}
}
