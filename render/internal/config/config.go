// Package config owns cluster.yaml: reading it strictly, with the position of
// every value, filling in the defaults, and working out the list of nodes that
// it describes.
package config

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/address"
	"github.com/talosgen/talosgen/render/internal/base"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// Config is a valid cluster.yaml: variables substituted, defaults filled in,
// the Talos version and its contract written with a leading v, the Kubernetes
// version without one.
type Config struct {
	schemas.Cluster
	// Warnings are about what is allowed and rarely meant.
	Warnings diag.List

	file  string
	pos   map[string]diag.Pos
	nodes []Node

	autoscaled []Node // one for each pool
	surge      []Node // one for each pool that has one

	fields func() map[fieldKey][]string // the paths of all fields
	root   *yaml.Node                   // what was read, laid over its bases

	// On Hetzner, zero otherwise:
	ranges address.Ranges
	shared address.Subnets
}

// Files are sources by their paths in the repository: a cluster.yaml, and the bases that
// it is laid over. Others do no harm.
type Files = map[string][]byte

// Load reads the cluster.yaml at file, a path in the repository, with its bases and the
// variables in scope. The error holds all problems that the file has; what comes
// with one, if not nil, holds nothing but the warnings.
func Load(file string, files Files, scope *subst.Scope) (*Config, error) {
	return loadChecked(file, files, scope, leniency{})
}

// LoadOverlapping is [Load] for who is going to change the pools: their
// addresses may overlap, or lie beyond their subnet.
func LoadOverlapping(file string, files Files, scope *subst.Scope) (*Config, error) {
	return loadChecked(file, files, scope, leniency{overlapping: true})
}

func loadChecked(file string, files Files, scope *subst.Scope, let leniency) (*Config, error) {
	doc, err := read(file, files, scope)
	if err != nil {
		return nil, err
	}
	c, err := decoded(file, doc, scope, let)
	if err != nil {
		return &Config{Warnings: sorted(c.Warnings)}, err
	}
	c.warnNotYet(schemas.NotYet)
	c.Warnings = sorted(c.Warnings)
	return c, nil
}

// decoded decodes and checks a document.
func decoded(file string, doc *document, scope *subst.Scope, let leniency) (*Config, error) {
	c := &Config{file: file, pos: map[string]diag.Pos{}, root: doc.root}
	c.fields = sync.OnceValue(c.listFields)
	problems := slices.Clone(doc.problems)
	d := decoder{
		file:     file,
		problems: &problems,
		pos:      c.pos,
		skip:     doc.failed,
	}
	d.refuseSecrets(doc.secret)
	d.decode(doc.root, &c.Cluster)
	check(&reporter{Config: c, problems: &problems, scope: scope, leniency: let})
	return c, problems.Err()
}

// sorted orders problems as an error does.
func sorted(problems diag.List) diag.List {
	var list diag.List
	list.AddErr(problems.Err())
	return list
}

// ExampleKeyFile is the path in the repository of the example key, or "".
func (c *Config) ExampleKeyFile() string {
	if c.Secrets.ExampleKeyFile == "" {
		return ""
	}
	return path.Join(path.Dir(c.file), c.Secrets.ExampleKeyFile)
}

// Amend changes what a file says, for what follows from it. What is added has the
// place of the list or the mapping that it is added to.
func Amend(c *Config, change func(*schemas.Cluster)) {
	change(&c.Cluster)
	c.fields = sync.OnceValue(c.listFields)
}

// AllowScheduling tells whether ordinary pods may run on control plane nodes.
func (c *Config) AllowScheduling() bool {
	if set := c.Cluster.Nodes.ControlPlane.AllowScheduling; set != nil {
		return *set
	}
	for _, n := range c.nodes {
		if n.Role == Worker {
			return false
		}
	}
	return true
}

// TalosMinor is the second number of the version of Talos.
func (c *Config) TalosMinor() int { return versions.Minor(c.Talos.Version) }

// FirstLocation is where things are that belong to the whole cluster.
func (c *Config) FirstLocation() string {
	for _, p := range controlPlanePools(c) {
		if c.Hetzner.Region == "" && len(p.Locations) > 0 {
			return p.Locations[0]
		}
		if at := cmp.Or(c.Hetzner.Region, p.Location); at != "" {
			return at
		}
	}
	return c.Hetzner.Region
}

// Pos is the place of a value: the value itself, or the key if the value is a
// list or a mapping. The elements of the path are keys, and indexes of lists
// from "0". If the file does not set the value, the line is 0.
func (c *Config) Pos(path ...string) diag.Pos {
	if p, ok := c.pos[join(path)]; ok {
		return p
	}
	return diag.Pos{File: c.file}
}

// Item is the key that an item of a list is known by where files meet, and its value
// there: of a pool its name.
func Item(c *Config, path []string) (key, value string) { return base.Item(c.root, path) }

// Near is the place of an option, written with dots and indexes such as
// hetzner.dns.records.0.name, or of the nearest mapping that it would be in.
func (c *Config) Near(option string) diag.Pos { return c.near(keys(option)) }

func (c *Config) near(at []string) diag.Pos {
	for len(at) > 0 && !c.has(at...) {
		at = at[:len(at)-1]
	}
	return c.Pos(at...)
}

// Has tells whether the file sets an option, written as for [Config.Near].
func (c *Config) Has(option string) bool { return c.has(keys(option)...) }

// has tells whether the file sets a value, be it a wrong one.
func (c *Config) has(path ...string) bool {
	_, ok := c.pos[join(path)]
	return ok
}

// join makes one string of a path; no key holds the separator.
func join(path []string) string { return strings.Join(path, "\x00") }
