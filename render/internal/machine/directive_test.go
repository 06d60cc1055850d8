package machine

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// directiveCase applies layers to the base of a contract 1.13 worker and says
// what is then found under a path.
type directiveCase struct {
	name   string
	layers []string
	doc    ID // the main document if empty
	at     string
	want   string // YAML; "" for nothing
}

func (c directiveCase) run(t *testing.T) {
	t.Helper()
	patches, err := loadAll(c.layers, LoadOptions{Scope: testScope(map[string]string{"NAME": "eth1", "MTU": "1400", "SAN": "b.example.org"})})
	if err != nil {
		t.Fatal(err)
	}
	cfg, warnings, err := testBase(t, "v1.13", Worker).Apply(patches)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 {
		t.Errorf("warnings: %v", warnings)
	}
	if c.doc.Kind == "" {
		c.doc = MainID
	}
	var want any
	if err := yaml.Unmarshal([]byte(c.want), &want); err != nil {
		t.Fatal(err)
	}
	if have := valueOf(t, cfg, c.doc, c.at); !reflect.DeepEqual(have, want) {
		t.Errorf("%s is\n%#v\nnot\n%#v", c.at, have, want)
	}
}

func link(name string) ID { return ID{mainKind, "LinkConfig", name} }

const sansLayer = `
	machine:
	  certSANs: [a.example.org, b.example.org, c.example.org]
	  nodeLabels: {a: "1", b: "2"}
	  network:
	    interfaces:
	      - interface: eth0
	        addresses: [10.0.0.5/24, 10.0.0.6/24]
	        routes: [{network: 0.0.0.0/0, gateway: 10.0.0.1}, {network: 10.1.0.0/16, gateway: 10.0.0.1}]
	      - interface: eth1
	        mtu: 9000
	  kubelet:
	    extraConfig: {maxPods: 200, evictionHard: {memory.available: 100Mi, nodefs.available: 10%}, podsPerCore: [1, 2]}`

const linkLayer = `
	apiVersion: v1alpha1
	kind: LinkConfig
	name: eth0
	mtu: 1400
	addresses: [{address: 10.0.0.5/24}, {address: 10.0.0.6/24}]`

func TestReplace(t *testing.T) {
	for _, c := range []directiveCase{
		{"list", []string{sansLayer, "machine: {certSANs: !replace [x.example.org]}"}, ID{}, "machine.certSANs", "[x.example.org]"},
		{"list by an empty one", []string{sansLayer, "machine: {certSANs: !replace []}"}, ID{}, "machine.certSANs", "[]"},
		{"list that is not there", []string{"machine: {certSANs: !replace [x.example.org]}"}, ID{}, "machine.certSANs", "[x.example.org]"},
		{"list with a variable", []string{sansLayer, "machine: {certSANs: !replace ['${SAN}']}"}, ID{}, "machine.certSANs", "[b.example.org]"},
		{"map", []string{sansLayer, "machine: {nodeLabels: !replace {c: '3'}}"}, ID{}, "machine.nodeLabels", "{c: '3'}"},
		{"map by an empty one", []string{sansLayer, "machine: {nodeLabels: !replace {}}"}, ID{}, "machine.nodeLabels", ""},
		{"map of a struct", []string{sansLayer, "machine: {install: !replace {disk: /dev/vdb}}"}, ID{}, "machine.install", "{disk: /dev/vdb, wipe: null}"},
		{"free-form map", []string{sansLayer, "machine: {kubelet: {extraConfig: {evictionHard: !replace {nodefs.available: 5%}}}}"}, ID{}, "machine.kubelet.extraConfig.evictionHard", "{nodefs.available: 5%}"},
		{"free-form list", []string{sansLayer, "machine: {kubelet: {extraConfig: {podsPerCore: !replace [3]}}}"}, ID{}, "machine.kubelet.extraConfig.podsPerCore", "[3]"},
		{"list item", []string{sansLayer, "machine: {network: {interfaces: [!replace {interface: eth0, mtu: 1300}]}}"}, ID{}, "machine.network.interfaces", "[{interface: eth0, mtu: 1300}, {interface: eth1, mtu: 9000}]"},
		{"list item that is not there", []string{"machine: {network: {interfaces: [!replace {interface: eth0, mtu: 1300}]}}"}, ID{}, "machine.network.interfaces", "[{interface: eth0, mtu: 1300}]"},
		{"list item by a variable", []string{sansLayer, "machine:\n  network:\n    interfaces:\n      - !replace {interface: '${NAME}'}\n      - !replace\n        interface: eth1\n        mtu: ${MTU}\n"}, ID{}, "machine.network.interfaces", `
            - interface: eth0
              addresses: [10.0.0.5/24, 10.0.0.6/24]
              routes: [{network: 0.0.0.0/0, gateway: 10.0.0.1}, {network: 10.1.0.0/16, gateway: 10.0.0.1}]
            - {interface: eth1, mtu: 1400}`},
		{"list in a list item", []string{sansLayer, "machine: {network: {interfaces: [{interface: eth0, addresses: !replace [10.0.0.7/24]}]}}"}, ID{}, "machine.network.interfaces", `
            - interface: eth0
              addresses: [10.0.0.7/24]
              routes: [{network: 0.0.0.0/0, gateway: 10.0.0.1}, {network: 10.1.0.0/16, gateway: 10.0.0.1}]
            - {interface: eth1, mtu: 9000}`},
		{"document", []string{linkLayer, "--- !replace\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nup: true\n"}, link("eth0"), "", "{apiVersion: v1alpha1, kind: LinkConfig, name: eth0, up: true}"},
		{"document that is not there", []string{"--- !replace\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nup: true\n"}, link("eth0"), "", "{apiVersion: v1alpha1, kind: LinkConfig, name: eth0, up: true}"},
		{"then append", []string{sansLayer, "machine: {certSANs: !replace [x]}", "machine: {certSANs: [y]}"}, ID{}, "machine.certSANs", "[x, y]"},
		{"beside an ordinary value", []string{sansLayer, "machine: {certSANs: !replace [x], nodeLabels: {c: '3'}}"}, ID{}, "machine.nodeLabels", "{a: '1', b: '2', c: '3'}"},
	} {
		t.Run(c.name, c.run)
	}
}

func TestDelete(t *testing.T) {
	for _, c := range []directiveCase{
		{"key of a map", []string{sansLayer, "machine: {nodeLabels: {a: !delete }}"}, ID{}, "machine.nodeLabels", "{b: '2'}"},
		{"key that is not there", []string{sansLayer, "machine: {nodeLabels: {z: !delete }}"}, ID{}, "machine.nodeLabels", "{a: '1', b: '2'}"},
		{"key of what is not there", []string{"machine: {nodeAnnotations: {z: !delete }}"}, ID{}, "machine.nodeAnnotations", ""},
		{"last key of a map", []string{"machine: {nodeAnnotations: {z: 'x'}}", "machine: {nodeAnnotations: {z: !delete }}"}, ID{}, "machine.nodeAnnotations", ""},
		{"map", []string{sansLayer, "machine: {nodeLabels: !delete }"}, ID{}, "machine.nodeLabels", ""},
		{"list", []string{sansLayer, "machine: {certSANs: !delete }"}, ID{}, "machine.certSANs", "[]"},
		{"field", []string{"machine: {install: {image: !delete }}"}, ID{}, "machine.install", "{disk: /dev/sda, grubUseUKICmdline: true, wipe: false}"},
		{"section", []string{"machine: {install: !delete }"}, ID{}, "machine.install", ""},
		{"free-form key", []string{sansLayer, "machine: {kubelet: {extraConfig: {maxPods: !delete }}}"}, ID{}, "machine.kubelet.extraConfig.maxPods", ""},
		{"value of a list", []string{sansLayer, "machine: {certSANs: [!delete b.example.org]}"}, ID{}, "machine.certSANs", "[a.example.org, c.example.org]"},
		{"value by a variable", []string{sansLayer, "machine: {certSANs: [!delete '${SAN}']}"}, ID{}, "machine.certSANs", "[a.example.org, c.example.org]"},
		{"number of a list", []string{sansLayer, "machine: {kubelet: {extraConfig: {podsPerCore: [!delete 1]}}}"}, ID{}, "machine.kubelet.extraConfig.podsPerCore", "[2]"},
		{"value that is not there", []string{sansLayer, "machine: {certSANs: [!delete z.example.org]}"}, ID{}, "machine.certSANs", "[a.example.org, b.example.org, c.example.org]"},
		{"value and append", []string{"machine: {certSANs: [a, b]}", "machine: {certSANs: [!delete a, c]}"}, ID{}, "machine.certSANs", "[b, c]"},
		{"item by its first key", []string{sansLayer, "machine: {network: {interfaces: [!delete {interface: eth0}]}}"}, ID{}, "machine.network.interfaces", "[{interface: eth1, mtu: 9000}]"},
		{"item by a variable", []string{sansLayer, "machine: {network: {interfaces: [!delete {interface: '${NAME}'}, !delete {interface: eth0}]}}"}, ID{}, "machine.network.interfaces", ""},
		{"item inside an item", []string{sansLayer, "machine: {network: {interfaces: [{interface: eth0, routes: [!delete {network: 0.0.0.0/0}]}]}}"}, ID{}, "machine.network.interfaces", `
            - interface: eth0
              addresses: [10.0.0.5/24, 10.0.0.6/24]
              routes: [{network: 10.1.0.0/16, gateway: 10.0.0.1}]
            - {interface: eth1, mtu: 9000}`},
		{"key inside an item", []string{sansLayer, "machine: {network: {interfaces: [{interface: eth1, mtu: !delete , dhcp: true}]}}"}, ID{}, "machine.network.interfaces", `
            - interface: eth0
              addresses: [10.0.0.5/24, 10.0.0.6/24]
              routes: [{network: 0.0.0.0/0, gateway: 10.0.0.1}, {network: 10.1.0.0/16, gateway: 10.0.0.1}]
            - {interface: eth1, dhcp: true}`},
		{"key inside an item that is not there", []string{sansLayer, "machine: {network: {interfaces: [{interface: eth1}, {interface: eth9, mtu: !delete }]}}"}, ID{}, "machine.network.interfaces", `
            - interface: eth0
              addresses: [10.0.0.5/24, 10.0.0.6/24]
              routes: [{network: 0.0.0.0/0, gateway: 10.0.0.1}, {network: 10.1.0.0/16, gateway: 10.0.0.1}]
            - {interface: eth1, mtu: 9000}`},
		{"document", []string{linkLayer, "--- !delete\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n"}, link("eth0"), "", ""},
		{"document that is not there", []string{"--- !delete\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n"}, link("eth0"), "", ""},
		{"another document of the kind", []string{linkLayer, "--- !delete\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth1\n"}, link("eth0"), "mtu", "1400"},
		{"document and add again", []string{linkLayer, "--- !delete\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n", "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nup: true\n"}, link("eth0"), "", "{apiVersion: v1alpha1, kind: LinkConfig, name: eth0, up: true}"},
		{"key of a document", []string{linkLayer, "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: !delete\n"}, link("eth0"), "mtu", ""},
		{"item of a document", []string{linkLayer, "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\naddresses: [!delete {address: 10.0.0.6/24}]\n"}, link("eth0"), "addresses", "[{address: 10.0.0.5/24}]"},
		{"key of a document that is not there", []string{"apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: !delete\n"}, link("eth0"), "", ""},
		{"Talos' own", []string{sansLayer, "machine: {nodeLabels: {a: {$patch: delete}}}"}, ID{}, "machine.nodeLabels", "{b: '2'}"},
		{"Talos' own, with the rest of the patch", []string{sansLayer, "machine: {nodeLabels: {a: {$patch: delete}}, certSANs: ['${SAN}x']}"}, ID{}, "machine.certSANs", "[a.example.org, b.example.org, c.example.org, b.example.orgx]"},
	} {
		t.Run(c.name, c.run)
	}
}

// TestDirectiveTwice applies directives twice: the second time changes nothing.
func TestDirectiveTwice(t *testing.T) {
	for _, patch := range []string{
		"machine: {certSANs: !replace [x]}",
		"machine: {certSANs: [!delete b.example.org], nodeLabels: {a: !delete }}",
		"machine: {network: {interfaces: [!delete {interface: eth0}, {interface: eth1, mtu: !delete }]}}",
		"--- !delete\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n",
		"--- !replace\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nup: true\n",
	} {
		base := testBase(t, "v1.13", Worker)
		once := textOf(t, mustApply(t, base, sansLayer, linkLayer, patch))
		twice := textOf(t, mustApply(t, base, sansLayer, linkLayer, patch, patch))
		if once != twice {
			t.Errorf("%s\nonce:\n%s\ntwice:\n%s", patch, once, twice)
		}
		if strings.Contains(once, "!delete") || strings.Contains(once, "!replace") {
			t.Errorf("%s: a tag is in the result:\n%s", patch, once)
		}
	}
}

func TestDeleteRemovesEveryMatch(t *testing.T) {
	cfg := mustApply(t, testBase(t, "v1.13", Worker), "machine: {certSANs: [a, b, a]}", "machine: {certSANs: [!delete a]}")
	if have := valueOf(t, cfg, MainID, "machine.certSANs"); !reflect.DeepEqual(have, []any{"b"}) {
		t.Errorf("certSANs are %v", have)
	}
}
