package adopt_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/plan/adopt"
	"github.com/talosgen/talosgen/internal/casetest"
)

// Each file in testdata is a project with the nodes of a cluster in it, and how the
// cluster is described, or why it cannot be.
func TestMap(t *testing.T) {
	casetest.RunOne(t, "testdata/*.txtar", "result", func(t *testing.T, c casetest.Case) string {
		in := input(t, c)
		m, err := adopt.Map(in)
		if err != nil {
			return err.Error() + "\n"
		}
		return text(m)
	})
}

func input(t *testing.T, c casetest.Case) (in adopt.Input) {
	t.Helper()
	var nodes struct {
		Cluster   string
		NodeCIDRs []string `yaml:"nodeCidrs"`
		Planes    map[string]string
		Workers   map[string]string
	}
	decode(t, c.Texts["nodes"], &nodes)
	decode(t, c.Texts["project"], &in.Project)
	in.Cluster, in.NodeCIDRs = nodes.Cluster, nodes.NodeCIDRs
	for name, address := range nodes.Planes {
		in.Nodes = append(in.Nodes, adopt.Node{Name: name, Address: address, ControlPlane: true})
	}
	for name, address := range nodes.Workers {
		in.Nodes = append(in.Nodes, adopt.Node{Name: name, Address: address})
	}
	names, err := adopt.ParseNames("names.yaml", []byte(c.Texts["names"]))
	if err != nil {
		t.Fatal(err)
	}
	in.Names = names
	return in
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// text is a description for people.
func text(m *adopt.Mapping) string {
	var b strings.Builder
	for _, o := range m.Options {
		fmt.Fprintf(&b, "%s: %v\n", o.Path, o.Value)
	}
	for _, p := range m.Pools {
		fmt.Fprintf(&b, "pool %s", p.Name)
		if p.ControlPlane {
			b.WriteString(" of control planes")
		}
		fmt.Fprintf(&b, ": %s\n", strings.Join(p.Nodes, " "))
		for _, o := range p.Options {
			fmt.Fprintf(&b, "  %s: %v\n", o.Path, o.Value)
		}
	}
	for _, n := range m.Notes {
		fmt.Fprintf(&b, "# %s\n", n)
	}
	if m.Module != adopt.NoModule {
		fmt.Fprintf(&b, "made by %s\n", m.Module)
	}
	return b.String()
}

// TestParseNames: each server has a place of its own.
func TestParseNames(t *testing.T) {
	for text, want := range map[string]string{
		"a: worker/1\nb: worker/2\n": "",
		"":                           "",
		"a: worker/1\nb: worker/1\n": "names.yaml: a and b have one place, worker/1",
		"a: worker\n":                `names.yaml: a: "worker" is not POOL/INDEX`,
		"a: worker/0\n":              `names.yaml: a: "worker/0" is not POOL/INDEX`,
		"a: Worker/1\n":              `names.yaml: a: "Worker/1" is not POOL/INDEX`,
		"- a\n":                      "names.yaml: cannot be read as a list of servers",
	} {
		_, err := adopt.ParseNames("names.yaml", []byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
