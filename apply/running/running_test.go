package running

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
)

func TestOneEtcd(t *testing.T) {
	a, b := node.Member{ID: 1, Hostname: "a"}, node.Member{ID: 2, Hostname: "b"}
	both, other := []node.Member{a, b}, []node.Member{{ID: 3, Hostname: "c"}}
	worker := Node{Address: "192.0.2.9"}
	for _, c := range []struct {
		name  string
		nodes []Node
		want  string // in the error; empty: there is none
	}{
		{"all", []Node{{Address: "192.0.2.1", member: 1, members: both}, {Address: "192.0.2.2", member: 2, members: []node.Member{b, a}}, worker}, ""},
		{"one is missing", []Node{worker, {Address: "192.0.2.1", member: 1, members: both}}, "has the member b"},
		{"two clusters", []Node{{Address: "192.0.2.1", member: 1, members: both}, {Address: "192.0.2.3", member: 3, members: other}}, "node 192.0.2.3: is a member of another etcd than node 192.0.2.1"},
	} {
		err := oneEtcd(c.nodes)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestSettled: a stored configuration that is not the active one is refused, and what
// they hold is not told.
func TestSettled(t *testing.T) {
	for _, c := range []struct {
		name, active, stored string
		refused              bool
	}{
		{"the same", "a: canary", "a: canary", false},
		{"none is stored", "a: canary", "", false},
		{"another", "a: canary", "a: canary2", true},
	} {
		err := settled("192.0.2.7", secret.New(c.active), secret.New(c.stored))
		if (err != nil) != c.refused || err != nil && (!strings.HasPrefix(err.Error(), "node 192.0.2.7: will have another") || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestUnique(t *testing.T) {
	nodes := []Node{{UUID: "one"}, {UUID: "two"}, {UUID: "same"}, {UUID: "same"}, {UUID: "00000000-0000"}}
	unique(nodes, func(n *Node) *string { return &n.UUID })
	for i, want := range []string{"one", "two", "", "", ""} {
		if nodes[i].UUID != want {
			t.Errorf("%d is %q, want %q", i, nodes[i].UUID, want)
		}
	}
}

// TestParseAccess: an error shows neither the key nor what cannot be read.
func TestParseAccess(t *testing.T) {
	const text = "context: a\ncontexts:\n  a: {nodes: [192.0.2.1], ca: Y2E=, crt: Y3J0, key: a2V5}\n  b: {ca: Y2E=, crt: Y3J0, key: '%canary%'}\n"
	a, err := ParseAccess("talosconfig", []byte(text), "")
	if err != nil || a.Key().Reveal() != "key" || len(a.Nodes) != 1 {
		t.Errorf("%v, %v", a, err)
	}
	for context, data := range map[string]string{"b": text, "c": text, "": "canary: ["} {
		if _, err := ParseAccess("talosconfig", []byte(data), context); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", context, err)
		}
	}
}
