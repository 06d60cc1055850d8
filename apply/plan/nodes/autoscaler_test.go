package nodes_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/rotation"
)

// TestGroups: what the autoscaler makes servers from is read as Talos reads it, and what
// cannot be read is there without a configuration.
func TestGroups(t *testing.T) {
	const worker = "version: v1alpha1\nmachine: {type: worker, ca: {crt: a}}\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(worker)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"nodeConfigs": map[string]any{
		"packed": map[string]string{"cloudInit": base64.StdEncoding.EncodeToString(packed.Bytes())},
		"plain":  map[string]string{"cloudInit": worker},
		"cut":    map[string]string{"cloudInit": base64.StdEncoding.EncodeToString(packed.Bytes()[:20])},
		"none":   map[string]string{},
		"other":  map[string]string{"cloudInit": "#cloud-config\nusers: []\n"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	groups := nodes.Groups(text)
	for group, known := range map[string]bool{"packed": true, "plain": true, "cut": false, "none": false, "other": false} {
		config, there := groups[group]
		if !there || (config != nil) != known || known && config.Trust(rotation.TalosCA).Issues != rotation.DigestOf("a") {
			t.Errorf("%s: there is %v, read %v", group, there, config != nil)
		}
	}
	if got := nodes.Groups([]byte("{}")); len(got) != 0 {
		t.Errorf("nothing is %d groups", len(got))
	}
	if got := nodes.Groups([]byte("[")); len(got) != 1 {
		t.Errorf("what cannot be read is %d groups", len(got))
	}
}

// TestComersHoldNodes: no node gets the next phase while a server may come that is not
// ready for it, of the kinds in which workers have a part.
func TestComersHoldNodes(t *testing.T) {
	group := func(shape string, authorities ...string) map[string]*nodeconfig.Config {
		return map[string]*nodeconfig.Config{"burst": trusting(t, shape, "worker", authorities[0], authorities[1:]...)}
	}
	for _, tt := range []struct {
		name, shape string
		seen        nodes.Autoscaler
		refused     string
		hint        string
	}{
		{"nothing", "talos", nodes.Autoscaler{}, "", ""},
		{"it is ready", "talos", nodes.Autoscaler{Groups: group("talos", "a", "b")}, "", ""},
		{"it is behind", "talos", nodes.Autoscaler{Groups: group("talos", "a")}, "a new server of burst does not trust the new authority yet", "apply the phase before"},
		{"of Kubernetes", "kubernetes 1.14", nodes.Autoscaler{Groups: group("kubernetes 1.14", "a")}, "a new server of burst does not trust the new authority yet", "apply the phase before"},
		{"a pod is behind", "kubernetes", nodes.Autoscaler{Groups: group("kubernetes", "a", "b"), Pods: []rotation.Pod{{Name: "p"}}}, "a server that pod p makes does not trust the new authority yet", "rollout status"},
		{"a server starts", "talos", nodes.Autoscaler{Groups: group("talos", "a", "b"), Servers: []string{"burst-1"}}, "it is not known which authorities server burst-1 of the autoscaler trusts", "discovery: false"},
		{"nobody answers", "talos", nodes.Autoscaler{Silent: "it hangs"}, "it is not known which authorities a new server of the autoscaler (it hangs) trusts", "talosgen health"},
		{"service accounts are no matter of workers", "service account", nodes.Autoscaler{Silent: "it hangs"}, "", ""},
		{"nor is the key of Secrets", "encryption key", nodes.Autoscaler{Silent: "it hangs"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			desired := nodes.Desired{Nodes: []nodes.Want{{Name: "c1", Role: nodes.ControlPlane, Config: trusting(t, tt.shape, "controlplane", "b", "a")}}}
			observed := nodes.Observed{Known: true, Members: []nodes.Member{{ID: "c1", Node: "c1", Healthy: true}}, Autoscaler: tt.seen,
				Nodes: []nodes.Node{{Name: "c1", Role: nodes.ControlPlane, Reach: nodes.Configured, Stage: nodes.StageRunning, Config: trusting(t, tt.shape, "controlplane", "a", "b")}}}
			p, err := nodes.Make(desired, observed, nodes.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.refused == "" {
				if len(p.Refusals) > 0 || len(p.Steps) == 0 {
					t.Errorf("refused %v", p.Refusals)
				}
				return
			}
			if len(p.Refusals) != 1 || !strings.HasSuffix(p.Refusals[0].Text, "is too early: "+tt.refused) || !strings.Contains(p.Refusals[0].Hint, tt.hint) || len(p.Steps) > 0 {
				t.Errorf("refused %v, steps %v", p.Refusals, p.Steps)
			}
		})
	}
}

// TestMayMake: the autoscaler gets a phase by the rules of a node, and none that nodes were
// not looked at for.
func TestMayMake(t *testing.T) {
	old, accept, issue, done := []string{"a"}, []string{"a", "b"}, []string{"b", "a"}, []string{"b"}
	config := func(role string, authorities []string) *nodeconfig.Config {
		return trusting(t, "talos", role, authorities[0], authorities[1:]...)
	}
	for _, tt := range []struct {
		name                string
		before, after, node []string
		pod                 string
		alone               bool
		want                string
	}{
		{"the same", old, old, nil, "", true, ""},
		{"it learns", old, accept, old, "", false, ""},
		{"it learns, alone", old, accept, nil, "", true, ""},
		{"it signs", accept, issue, issue, "", false, ""},
		{"it signs, alone", accept, issue, nil, "", true, "new servers would take the next phase of the rotation of the authority of the Talos API, and nodes were not looked at"},
		{"a node was missed", accept, issue, old, "", false, "the next phase of the rotation of the authority of the Talos API is too early: n does not trust the new authority yet"},
		{"it skips a phase", old, issue, issue, "", true, "new servers would skip a phase of the rotation of the authority of the Talos API"},
		{"it forgets", issue, done, done, "", false, ""},
		{"it forgets too early", issue, done, accept, "", false, "the next phase of the rotation of the authority of the Talos API is too early: n has certificates of the old authority still"},
		{"it goes back", issue, accept, accept, "", false, ""},
		{"a pod is behind", accept, issue, issue, "p", false, "the next phase of the rotation of the authority of the Talos API is too early: a server that pod p makes does not trust the new authority yet"},
		{"there is none yet", nil, done, accept, "", false, ""},
		{"it goes", issue, nil, done, "", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			groups := func(authorities []string) map[string]*nodeconfig.Config {
				if authorities == nil {
					return nil
				}
				return map[string]*nodeconfig.Config{"burst": config("worker", authorities)}
			}
			var desired nodes.Desired
			var observed nodes.Observed
			if tt.node != nil {
				desired.Nodes = []nodes.Want{{Name: "n", Role: nodes.Worker, Config: config("worker", done)}}
				observed.Nodes = []nodes.Node{{Name: "n", Role: nodes.Worker, Reach: nodes.Configured, Config: config("worker", tt.node)}}
			}
			if tt.pod != "" {
				observed.Autoscaler = nodes.Autoscaler{Groups: groups(tt.before), Pods: []rotation.Pod{{Name: tt.pod}}}
			}
			if why, _ := nodes.MayMake(groups(tt.before), groups(tt.after), desired, observed, tt.alone); why != tt.want {
				t.Errorf("got %q", why)
			}
		})
	}
	unread := map[string]*nodeconfig.Config{"burst": nil}
	after := map[string]*nodeconfig.Config{"burst": config("worker", issue)}
	desired := nodes.Desired{Nodes: []nodes.Want{{Name: "n", Role: nodes.Worker, Config: config("worker", issue)}}}
	if why, _ := nodes.MayMake(unread, after, desired, nodes.Observed{}, false); why != "it is not known which authorities new servers trust" {
		t.Errorf("of what cannot be read: %q", why)
	}
	if why, _ := nodes.MayMake(unread, after, nodes.Desired{}, nodes.Observed{}, true); why != "" {
		t.Errorf("outside of a rotation: %q", why)
	}
}
