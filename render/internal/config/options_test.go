package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/schemas"
)

// loadable are the cases in testdata that give a configuration.
func loadable(t *testing.T) []*Config {
	t.Helper()
	var all []*Config
	for _, in := range casetest.Cases(t, "testdata/*.txtar") {
		if c, err := loadFiles(t, in); err == nil {
			all = append(all, c)
		}
	}
	if len(all) < 5 {
		t.Fatalf("only %d cases load", len(all))
	}
	return all
}

// optionsOf lists the paths of all options below a type, without indexes.
func optionsOf(typ reflect.Type, base string) []string {
	var all []string
	for _, f := range fieldsOf(typ) {
		option := strings.TrimPrefix(base+"."+f.Tag.Get("yaml"), ".")
		all = append(all, option)
		inner := f.Type
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, inner.Kind()) {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[yaml.Node]() {
			all = append(all, optionsOf(inner, option)...)
		}
	}
	return all
}

// ofDedicatedServers are options of machines that control planes do not have.
var ofDedicatedServers = []string{"nodes.controlPlane.nodes.index", "nodes.controlPlane.nodes.privateIp",
	"nodes.controlPlane.nodepools.nodes.index", "nodes.controlPlane.nodepools.nodes.privateIp"}

// Every option is set in a case, so that what becomes of it is seen.
func TestEveryOptionHasACase(t *testing.T) {
	cases := loadable(t)
	for _, option := range optionsOf(reflect.TypeFor[schemas.Cluster](), "") {
		set := func(c *Config) bool { return c.find(nil, keys(option)) != nil }
		if !slices.ContainsFunc(cases, set) && !slices.Contains(ofDedicatedServers, option) {
			t.Errorf("%s is in no case", option)
		}
	}
}

// What is not in effect yet is warned of: where it is set, once, and not where
// it is not.
func TestNotYet(t *testing.T) {
	c := load(t, `clusterName: dev
hetzner: {region: hel1}
nodes:
  controlPlane: {count: 1, type: cpx22, backups: true}
  workers:
    nodepools:
      - {name: a, count: 0, type: cpx22}
      - {name: b, count: 0, type: cpx22, offset: 1}
      - {name: c, count: 0, type: cpx22, offset: 2}
`)
	c.Warnings = nil
	c.warnNotYet([]string{"nodes.controlPlane.backups", "nodes.workers.nodepools.offset", "nodes.workers.nodepools.subnet", "hetzner", "cni"})
	got := sorted(c.Warnings).Error()
	want := `envs/dev/cluster.yaml:2:1: hetzner is not in effect yet
envs/dev/cluster.yaml:4:50: nodes.controlPlane.backups is not in effect yet
envs/dev/cluster.yaml:8:50: nodes.workers.nodepools.offset is not in effect yet
3 problems`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A load warns of everything in the table that the file sets.
func TestNotYetIsWarnedOf(t *testing.T) {
	cases := loadable(t)
	for _, option := range schemas.NotYet {
		warned := 0
		for _, c := range cases {
			for _, w := range c.Warnings {
				why := schemas.NoEffect[option]
				if (w.Message == option+" is not in effect yet" && why == "" || w.Message == option+" has no effect" && why != "" && w.Hint == why) && w.Pos.Line > 0 {
					warned++
				}
			}
		}
		if warned == 0 {
			t.Errorf("nobody is warned of %s", option)
		}
	}
}

// A variable can stand for any scalar.
func TestVariableForEveryScalar(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/sample.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(archive.Files[0].Data, &doc); err != nil {
		t.Fatal(err)
	}
	var env strings.Builder
	replaced := 0
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			switch isKey := n.Kind == yaml.MappingNode && i%2 == 0; {
			case child.Kind != yaml.ScalarNode:
				walk(child)
			case !isKey:
				replaced++
				name := "V" + strings.Repeat("x", replaced)
				env.WriteString(name + "=" + child.Value + "\n")
				child.Value, child.Style, child.Tag = "${"+name+"}", 0, "!!str"
			}
		}
	}
	walk(&doc)
	data, err := yaml.Marshal(&doc)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(testFile, alone(string(data)), testScope(t, []byte(env.String())))
	if err != nil || replaced < 30 {
		t.Fatalf("%d scalars: %v", replaced, err)
	}
	if got, want := resolved(t, c), resolved(t, load(t, string(archive.Files[0].Data))); got != want {
		t.Errorf("with variables it is another configuration:\n%s", got)
	}
}
