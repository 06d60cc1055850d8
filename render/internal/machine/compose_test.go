package machine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// sharedTexts are patches that touch what options touch too, some of them, and
// each other.
var sharedTexts = []string{
	"machine: {nodeLabels: {team: a, zone: shared}}",
	"machine: {nodeLabels: {zone: ''}}",
	"machine: {nodeLabels: {role: '${SECRET}'}}",
	"machine: {nodeAnnotations: {a: '1'}, install: {grubUseUKICmdline: true}}",
	"machine: {nodeAnnotations: {b: '2'}, install: {grubUseUKICmdline: false}}",
	"machine: {certSANs: [a.example.org, b.example.org]}",
	"machine: {certSANs: [c.example.org], sysctls: {x: '1'}}",
	"machine: {certSANs: !replace [z.example.org]}",
	"machine: {certSANs: [!delete a.example.org]}",
	"machine: {nodeLabels: !delete }",
	"machine: {nodeLabels: {team: {$patch: delete}}}",
	"machine: {kubelet: {extraArgs: {v: '4'}, nodeIP: {validSubnets: [10.9.0.0/16]}}}",
	"machine: {kubelet: !replace {extraArgs: {v: '5'}}}",
	"machine: {kubelet: {extraConfig: {registerWithTaints: [{key: k, effect: NoSchedule}], maxPods: 50}}}",
	"machine: {network: {nameservers: [10.0.0.53]}}",
	"machine: {network: {interfaces: [{interface: eth0, mtu: 1400}, {interface: eth1, dhcp: true}]}}",
	"machine: {network: {hostname: shared}}",
	"machine: {time: {servers: ['${NODE_NAME}.example.org']}}",
	"machine: {install: {image: {$patch: delete}}}",
	"apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: shared\nauto: off\n",
	"--- !delete\napiVersion: v1alpha1\nkind: HostnameConfig\n",
	"--- !replace\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n",
	"apiVersion: v1alpha1\nkind: HostnameConfig\n$patch: delete\n",
	"apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: 1400\n",
	"apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\naddresses: [{address: 10.7.0.1/24}]\n",
	"apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n$patch: delete\n",
	"apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\nprovisioning: {diskSelector: {match: system_disk}, minSize: 1GiB}\n",
	"apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\nprovisioning: {maxSize: 50%}\n",
	"apiVersion: v1beta9\nkind: NewConfig\nx: ${NODE_NAME}\n",
	"apiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: {zone: shared}\ntaints: {a: NoSchedule}\n",
	"apiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: !replace {only: this}\n",
	"apiVersion: v1alpha1\nkind: KubeNodeConfig\ntaints: {$patch: delete}\n",
	"apiVersion: v1alpha1\nkind: KubeFlannelCNIConfig\nbackendMTU: 1400\n",
	"apiVersion: v1alpha1\nkind: KubeAdmissionControlConfig\nname: PodSecurity\nconfiguration: {exemptions: {namespaces: [web]}}\n",
	"cluster: {apiServer: {admissionControl: [{name: PodSecurity, configuration: {exemptions: {namespaces: [web]}}}]}}",
	"",
}

// composeCase is a random node: its base, options and patches.
type composeCase struct {
	base    *Config
	options *Patch
	patches []*Patch
}

var composeContracts = []string{"v1.9", "v1.11", "v1.13", "v1.14"}

// composer makes random nodes of an environment: shared patches are loaded once.
type composeSource struct {
	rand   *rand.Rand
	bases  map[string]*Config
	shared []*Patch
}

func newComposeSource(t *testing.T, seed uint64) *composeSource {
	t.Helper()
	s := &composeSource{rand: rand.New(rand.NewPCG(seed, 1)), bases: map[string]*Config{}}
	for _, contract := range composeContracts {
		for _, role := range []Role{ControlPlane, Worker} {
			s.bases[contract+string(role)] = testBase(t, contract, role)
		}
	}
	s.loadShared(t)
	return s
}

func (s *composeSource) loadShared(t *testing.T) {
	t.Helper()
	s.shared = nil
	for i, text := range sharedTexts {
		p, err := loadText(fmt.Sprintf("shared-%d.yaml", i), text, LoadOptions{Scope: nodeScope("shared"), PerNode: strings.Contains(text, "NODE_")})
		if err != nil {
			t.Fatal(err)
		}
		s.shared = append(s.shared, p)
	}
}

func nodeScope(name string) *subst.Scope {
	return testScope(map[string]string{"NODE_NAME": name, "SECRET": "sekret-1"}, "SECRET")
}

func (s *composeSource) pick(n int) []*Patch {
	var patches []*Patch
	for range s.rand.IntN(n + 1) {
		patches = append(patches, s.shared[s.rand.IntN(len(s.shared))])
	}
	return patches
}

func (s *composeSource) next(t *testing.T, i int) composeCase {
	t.Helper()
	contract := composeContracts[s.rand.IntN(len(composeContracts))]
	role := []Role{ControlPlane, Worker}[s.rand.IntN(2)]
	c := composeCase{base: s.bases[contract+string(role)], patches: s.pick(4)}
	for _, j := range s.rand.Perm(len(sharedTexts))[:s.rand.IntN(3)] {
		p, err := loadText(fmt.Sprintf("node-%d.yaml", i), sharedTexts[j], LoadOptions{Scope: nodeScope(fmt.Sprintf("node-%d", i)), PerNode: true})
		if err != nil {
			t.Fatal(err)
		}
		c.patches = append(c.patches, p)
	}
	c.patches = append(c.patches, s.pick(1)...)
	o := NodeOptions{Hostname: Option{fmt.Sprintf("node-%d", i), diag.Pos{File: "cluster.yaml", Line: 9}}}
	if s.rand.IntN(2) == 0 {
		o.Labels = OptionMap{"zone": {Value: "a"}, "team": {Value: "b"}}
	}
	if s.rand.IntN(3) == 0 {
		o.Taints = []NodeTaint{{Key: "a", Value: "b", Effect: "NoSchedule"}}
		o.NodeCIDRs = []Option{{Value: "10.0.0.0/24"}}
	}
	if s.rand.IntN(2) == 0 {
		o.Links = []Link{{Name: Option{Value: "eth0"}, Address: Option{Value: "10.0.0.5/24"}}}
	}
	if s.rand.IntN(3) == 0 {
		o.Kubernetes = KubernetesOptions{
			NoCNI:            Option{Value: "none"},
			Kubelet:          KubeletOptions{ComponentOptions: ComponentOptions{ExtraArgs: OptionMap{"v": {Value: "2"}}}},
			AdmissionPlugins: []AdmissionPlugin{{Option{Value: podSecurity}, tree(t, "{kind: PodSecurityConfiguration}", 1)}},
		}
	}
	if s.rand.IntN(10) > 0 {
		p, err := OptionsPatch("cluster.yaml", o, role, contract)
		if err != nil {
			t.Fatal(err)
		}
		c.options = p
	}
	return c
}

// inOrder applies everything in the documented order.
func (c composeCase) inOrder() (*Config, diag.List, error) {
	patches := c.patches
	if c.options != nil {
		patches = append([]*Patch{c.options}, patches...)
	}
	return c.base.Apply(patches)
}

func (c composeCase) String() string {
	var b strings.Builder
	for _, p := range c.patches {
		for _, pd := range p.docs {
			fmt.Fprintf(&b, "%s %s; ", p.File, pd.id)
		}
	}
	return b.String()
}

// TestComposeEqualsTheOrder: taking shared patches together, and moving a
// node's options past them, changes nothing; nor does it matter which nodes
// were made before.
func TestComposeEqualsTheOrder(t *testing.T) {
	source := newComposeSource(t, 7)
	composer := NewComposer()
	failures, moved := 0, 0
	for i := range 400 {
		c := source.next(t, i)
		want, _, wantErr := c.inOrder()
		have, _, err := composer.Compose(c.base, c.options, c.patches)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("case %d (%s): Compose says %v, the order %v", i, c, err, wantErr)
		}
		if err != nil {
			failures++
			continue
		}
		if c.options != nil && len(c.patches) > 0 && !c.patches[0].PerNode && !overlap(c.options, c.patches[:1]) {
			moved++
		}
		compareDocuments(t, "", []byte(textOf(t, want)), []byte(textOf(t, have)))
		if a, b := secretPaths(t, want), secretPaths(t, have); !slices.Equal(a, b) {
			t.Errorf("case %d (%s): other values are secret", i, c)
		}
		if t.Failed() {
			t.Fatalf("case %d: %s", i, c)
		}
	}
	if failures > 200 || moved < 50 {
		t.Errorf("of 400 cases %d failed, %d moved options: the cases mean too little", failures, moved)
	}
}

// TestPatchesAreNotChanged: a patch gives the same result whatever it was
// applied to before, and a configuration is not changed by what is made of it.
func TestPatchesAreNotChanged(t *testing.T) {
	used, fresh := newComposeSource(t, 3), newComposeSource(t, 3)
	var bases []string
	for _, key := range sortedKeys(used.bases) {
		bases = append(bases, textOf(t, used.bases[key]))
	}
	for i := range 200 {
		a := used.next(t, i)
		b := newCase(t, fresh, i)
		have, _, err := a.inOrder()
		want, _, wantErr := b.inOrder()
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("case %d (%s): %v; with fresh patches %v", i, a, err, wantErr)
		}
		if err == nil && textOf(t, have) != textOf(t, want) {
			t.Fatalf("case %d (%s): patches that were used before give another result", i, a)
		}
	}
	for i, key := range sortedKeys(used.bases) {
		if base := used.bases[key]; textOf(t, base) != bases[i] || textOf(t, &Config{docs: uncached(base.docs)}) != bases[i] {
			t.Errorf("the base %s has changed", key)
		}
	}
}

// newCase is next with all patches loaded anew.
func newCase(t *testing.T, s *composeSource, i int) composeCase {
	t.Helper()
	s.loadShared(t)
	return s.next(t, i)
}

// uncached returns documents without the text that they remember.
func uncached(docs []*Document) []*Document {
	var out []*Document
	for _, d := range docs {
		out = append(out, &Document{ID: d.ID, typed: d.typed})
	}
	return out
}

// TestNodesDoNotChangeEachOther: what one node's patch does to a document that
// nodes share stays with that node.
func TestNodesDoNotChangeEachOther(t *testing.T) {
	base := testBase(t, "v1.13", ControlPlane)
	shared := mustLoad(t, "shared.yaml", `
		machine:
		  nodeAnnotations: {a: "1"}
		  install: {grubUseUKICmdline: true}
		  network: {searchDomains: [a.example.org]}
		  baseRuntimeSpecOverrides: {process: {noNewPrivileges: true}}
		cluster:
		  apiServer: {authorizationConfig: [{type: Node, name: node}]}
		  controlPlane: {endpoint: https://a.example.org:6443}`)
	own := mustLoad(t, "own.yaml", `
		machine:
		  nodeAnnotations: {b: "2"}
		  install: {grubUseUKICmdline: false}
		  network: {searchDomains: [b.example.org]}
		  baseRuntimeSpecOverrides: {process: {user: {uid: 5}}}
		cluster:
		  apiServer: {authorizationConfig: [{type: RBAC, name: rbac}]}
		  controlPlane: {endpoint: https://b.example.org:6443}`)
	own.PerNode = true
	before := textOf(t, mustApply(t, base, "machine: {}")) // of the same layers, apart from the test
	composer := NewComposer()
	first, _, err := composer.Compose(base, nil, []*Patch{shared})
	if err != nil {
		t.Fatal(err)
	}
	want := textOf(t, &Config{docs: uncached(first.docs)})
	changed, _, err := composer.Compose(base, nil, []*Patch{shared, own})
	if err != nil {
		t.Fatal(err)
	}
	if textOf(t, changed) == want {
		t.Error("the node's own patch has no effect")
	}
	again, _, err := composer.Compose(base, nil, []*Patch{shared})
	if err != nil {
		t.Fatal(err)
	}
	if have := textOf(t, &Config{docs: uncached(again.docs)}); have != want {
		t.Errorf("a node without the patch has its values:\n%s", have)
	}
	if have := textOf(t, &Config{docs: uncached(base.docs)}); have != before {
		t.Errorf("the base has changed:\n%s", have)
	}
}
