package machine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

func at(value string, line int) Option {
	return Option{value, diag.Pos{File: "envs/dev/cluster.yaml", Line: line, Column: 3}}
}

// optionCase is an option, and where it is found, by contract.
type optionCase struct {
	name    string
	options NodeOptions
	roles   []Role // both if empty
	// want is the document and path, and the value in YAML, from the contract in
	// the key on; none if it is empty.
	want map[string][3]string
}

var optionCases = []optionCase{
	{"hostname", NodeOptions{Hostname: at("dev-1", 1)}, nil, map[string][3]string{
		"v1.9":  {"v1alpha1", "machine.network.hostname", "dev-1"},
		"v1.12": {"HostnameConfig", "", "{apiVersion: v1alpha1, kind: HostnameConfig, hostname: dev-1, auto: 'off'}"},
	}},
	{"labels", NodeOptions{Labels: OptionMap{"a.b/c": at("1", 2), "z": at("", 3)}}, []Role{Worker}, map[string][3]string{
		"v1.9":  {"v1alpha1", "machine.nodeLabels", "{a.b/c: '1', z: ''}"},
		"v1.14": {"KubeNodeConfig", "labels", "{a.b/c: '1', z: ''}"},
	}},
	{"annotations", NodeOptions{Annotations: OptionMap{"a.b/c": at("true", 2)}}, nil, map[string][3]string{
		"v1.9":  {"v1alpha1", "machine.nodeAnnotations", "{a.b/c: 'true'}"},
		"v1.14": {"KubeNodeConfig", "annotations", "{a.b/c: 'true'}"},
	}},
	{"taints", NodeOptions{Taints: []NodeTaint{{Key: "a", Value: "b", Effect: "NoSchedule"}, {Key: "c", Effect: "NoExecute"}}}, []Role{ControlPlane}, map[string][3]string{
		"v1.9":  {"v1alpha1", "machine.nodeTaints", "{a: b:NoSchedule, c: NoExecute}"},
		"v1.14": {"KubeNodeConfig", "taints", "{node-role.kubernetes.io/control-plane: NoSchedule, a: b:NoSchedule, c: NoExecute}"},
	}},
	{"taints of a worker", NodeOptions{Taints: []NodeTaint{{Key: "a", Value: "b", Effect: "NoSchedule"}, {Key: "a", Effect: "NoExecute"}}}, []Role{Worker}, map[string][3]string{
		"v1.9":  {"v1alpha1", "machine.kubelet.extraConfig.registerWithTaints", "[{key: a, value: b, effect: NoSchedule}, {key: a, effect: NoExecute}]"},
		"v1.14": {"KubeletConfig", "config.registerWithTaints", "[{key: a, value: b, effect: NoSchedule}, {key: a, effect: NoExecute}]"},
	}},
	{"node CIDRs", NodeOptions{NodeCIDRs: []Option{at("10.0.0.0/16", 4), at("fd00::/64", 5)}}, nil, map[string][3]string{
		"v1.9":  {"v1alpha1", "machine.kubelet.nodeIP.validSubnets", "[10.0.0.0/16, fd00::/64]"},
		"v1.14": {"KubeNodeConfig", "nodeIP.validSubnets", "[10.0.0.0/16, fd00::/64]"},
	}},
	{"address of an interface", NodeOptions{Links: []Link{{Name: at("eth0", 6), Address: at("10.0.0.5/24", 4), Routes: []Route{{Gateway: at("10.0.0.1", 5)}}}}}, nil, map[string][3]string{
		"v1.9":  {"v1alpha1", "machine.network.interfaces", "[{interface: eth0, addresses: [10.0.0.5/24], routes: [{network: 0.0.0.0/0, gateway: 10.0.0.1}]}]"},
		"v1.12": {"LinkConfig/eth0", "", "{apiVersion: v1alpha1, kind: LinkConfig, name: eth0, addresses: [{address: 10.0.0.5/24}], routes: [{gateway: 10.0.0.1}]}"},
	}},
	{"address by MAC", NodeOptions{Links: []Link{{MAC: at("AA:BB:CC:00:11:22", 6), Address: at("fd00::5/64", 4), Routes: []Route{{Gateway: at("fd00::1", 5)}}}}}, nil, map[string][3]string{
		"v1.9":  {"v1alpha1", "machine.network.interfaces", "[{deviceSelector: {hardwareAddr: 'AA:BB:CC:00:11:22'}, addresses: ['fd00::5/64'], routes: [{network: '::/0', gateway: 'fd00::1'}]}]"},
		"v1.12": {"LinkConfig/net0", "", "{apiVersion: v1alpha1, kind: LinkConfig, name: net0, addresses: [{address: 'fd00::5/64'}], routes: [{gateway: 'fd00::1'}]}"},
	}},
	{"alias of the MAC", NodeOptions{Links: []Link{{MAC: at("AA:BB:CC:00:11:22", 6), Address: at("10.0.0.5/24", 4)}}}, nil, map[string][3]string{
		"v1.12": {"LinkAliasConfig/net0", "selector.match", `mac(link.permanent_addr) == "aa:bb:cc:00:11:22"`},
	}},
}

// TestOptions: each option arrives under every contract in the document that
// has a place for it, and Talos accepts the result.
func TestOptions(t *testing.T) { runOptionCases(t, optionCases) }

func runOptionCases(t *testing.T, cases []optionCase) {
	t.Helper()
	for _, c := range cases {
		for _, contract := range contracts {
			for _, role := range []Role{ControlPlane, Worker} {
				want, ok := wantedAt(c.want, contract)
				if !ok || want[0] == "" || len(c.roles) > 0 && c.roles[0] != role {
					continue
				}
				t.Run(fmt.Sprintf("%s %s %s", c.name, contract, role), func(t *testing.T) {
					checkOption(t, c.options, contract, role, want)
				})
			}
		}
	}
}

// wantedAt returns what is wanted from the newest contract up to one.
func wantedAt(want map[string][3]string, contract string) (newest [3]string, found bool) {
	for _, v := range contracts {
		if w, ok := want[v]; ok {
			newest, found = w, true
		}
		if v == contract {
			break
		}
	}
	return newest, found
}

func checkOption(t *testing.T, o NodeOptions, contract string, role Role, want [3]string) {
	t.Helper()
	p, err := OptionsPatch("envs/dev/cluster.yaml", o, role, contract)
	if err != nil {
		t.Fatal(err)
	}
	cfg, warnings, err := testBase(t, contract, role).Apply([]*Patch{p})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, warnings %v", err, warnings)
	}
	id := MainID
	if k, name, _ := strings.Cut(want[0], "/"); k != mainKind {
		id = ID{mainKind, k, name}
	}
	var value any
	if err := yaml.Unmarshal([]byte(want[2]), &value); err != nil {
		t.Fatal(err)
	}
	if have := valueOf(t, cfg, id, want[1]); !reflect.DeepEqual(have, value) {
		t.Errorf("%s %s is\n%#v\nnot\n%#v", want[0], want[1], have, value)
	}
	for _, mode := range []Mode{Cloud, Metal} {
		if _, problems, err := cfg.Validate(mode, contract == "v1.14"); err != nil || len(problems) > 0 {
			t.Errorf("Talos, mode %s: %v, %v", mode, problems, err)
		}
	}
}

func TestNoOptions(t *testing.T) {
	for _, contract := range contracts {
		if p, err := OptionsPatch("cluster.yaml", NodeOptions{}, Worker, contract); p != nil || err != nil {
			t.Errorf("%s: %v, %v", contract, p, err)
		}
	}
	if _, err := OptionsPatch("cluster.yaml", NodeOptions{}, Worker, "nonsense"); err == nil {
		t.Error("a contract that is none is accepted")
	}
}

func TestTwoTaintsOfAControlPlane(t *testing.T) {
	two := NodeOptions{Taints: []NodeTaint{
		{Key: "a", Value: "b", Effect: "NoSchedule"},
		{Key: "a", Effect: "NoExecute", Pos: diag.Pos{File: "cluster.yaml", Line: 7}},
	}}
	for _, contract := range []string{"v1.13", "v1.14"} {
		_, err := OptionsPatch("cluster.yaml", two, ControlPlane, contract)
		if err == nil || !strings.Contains(err.Error(), `cluster.yaml:7: a second taint with the key "a"`) {
			t.Errorf("%s: error is %v", contract, err)
		}
	}
}

// TestOptionsPositions: values lead back to where they stand in cluster.yaml.
func TestOptionsPositions(t *testing.T) {
	for _, contract := range contracts {
		p, err := OptionsPatch("envs/dev/cluster.yaml", NodeOptions{Hostname: at("dev-1", 11), Labels: OptionMap{"a": at("1", 12)}}, Worker, contract)
		if err != nil {
			t.Fatal(err)
		}
		traced, err := Trace(testBase(t, contract, Worker), []*Patch{p})
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, v := range traced {
			last := v.Origins[len(v.Origins)-1]
			found[v.Leaf.Value+" "+last.Layer] = last.Pos.String()
		}
		for value, want := range map[string]string{"dev-1 cluster.yaml": "envs/dev/cluster.yaml:11:3", "1 cluster.yaml": "envs/dev/cluster.yaml:12:3"} {
			if found[value] != want {
				t.Errorf("%s: %q is traced to %q, not %q", contract, value, found[value], want)
			}
		}
	}
}
