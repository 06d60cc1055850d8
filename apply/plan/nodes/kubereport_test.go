package nodes_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes"
)

// TestHearsay: of a node that is not reached the plan says what others say of it, and
// that it is to be replaced only if it has been away for longer than a start takes.
func TestHearsay(t *testing.T) {
	const since = "2026-11-22 13:00 UTC"
	for _, tt := range []struct {
		name       string
		h          nodes.KubeReport
		says, hint string
	}{
		{"nobody says anything", nodes.KubeReport{}, "(does not answer):", "it may be starting"},
		{"its server is off", nodes.KubeReport{Server: "off", Since: since},
			"(does not answer; Hetzner says that its server is off; Kubernetes says that it is not ready since 2026-11-22 13:00 UTC):", "apply switches that on"},
		{"its server is being made", nodes.KubeReport{Server: "initializing"}, "(does not answer; Hetzner says that its server is initializing):", "plan again when its server runs"},
		{"away for a moment", nodes.KubeReport{Since: since}, "not ready since 2026-11-22 13:00 UTC):", "it may be starting"},
		{"away for long", nodes.KubeReport{Since: since, Long: true}, "not ready since 2026-11-22 13:00 UTC):", "lost for good, replace it: talosgen replace"},
		{"it runs", nodes.KubeReport{Ready: true, Since: since}, "Kubernetes says that it is ready since 2026-11-22 13:00 UTC):", "do firewalls let you in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := read(t, "node cp-1 control-plane unreachable - same\n")
			s.observed.Nodes[0].Reason, s.observed.Nodes[0].KubeReport = "does not answer", tt.h
			p, err := s.plan()
			if err != nil || len(p.Warnings) != 1 {
				t.Fatal(err, p)
			}
			n := p.Warnings[0]
			if !strings.Contains(n.Text, tt.says) || !strings.Contains(n.Hint, tt.hint) || strings.Contains(n.Hint, "talosgen replace") != strings.Contains(tt.hint, "talosgen replace") {
				t.Errorf("%s\n%s", n.Text, n.Hint)
			}
		})
	}
}

// TestLongNames: names of nodes that are longer than a column move all of it.
func TestLongNames(t *testing.T) {
	const long = "acme-staging-control-plane-1"
	s := read(t, "node "+long+" control-plane maintenance - same\nnode w-1 worker maintenance - same\n")
	p, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	at := map[int]bool{}
	for line := range strings.Lines(p.String()) {
		if i := strings.Index(line, "it is new"); i > 0 {
			at[i] = true
		}
	}
	if len(at) != 1 {
		t.Errorf("columns %v in\n%s", at, p)
	}
}
