package machine

import (
	"strings"
	"testing"
)

const zeroBase = `
	machine:
	  certSANs: [a.example.org]
	  nodeLabels: {pool: general}
	  sysctls: {net.core.somaxconn: "5"}
	  time: {disabled: true, servers: [ntp.example.org], bootTimeout: 2m}
	  features: {kubePrism: {enabled: true, port: 7445}}
	  kubelet:
	    extraArgs: {v: "4"}
	    extraConfig: {maxPods: 110, serializeImagePulls: true, clusterDomain: x.local, allowedUnsafeSysctls: [a]}
	  network:
	    interfaces: [{interface: eth0, mtu: 1500, dhcp: true}]
	    kubespan: {enabled: true, mtu: 1380}
	---
	apiVersion: v1alpha1
	kind: LinkConfig
	name: eth0
	mtu: 1400
	up: true
	addresses: [{address: 10.0.0.5/24}]
	---
	apiVersion: v1alpha1
	kind: EtcFileConfig
	name: x.conf
	mode: 0o644
	contents: a
	---
	apiVersion: v1alpha1
	kind: UserVolumeConfig
	name: data
	provisioning: {minSize: 1GiB, diskSelector: {match: system_disk}}`

// TestZeroValues: values that say nothing are refused where Talos' merge
// ignores them, with the way out, and accepted where it takes them.
func TestZeroValues(t *testing.T) {
	linkDoc := "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n"
	for _, c := range []struct {
		name, patch string
		refused     string // "" if the value arrives
	}{
		{"empty string in a map", "machine: {nodeLabels: {pool: ''}}", "1:30: an empty string has no effect"},
		{"null in a map", "machine: {nodeLabels: {pool: null}}", "1:30: an empty value (null) has no effect"},
		{"nothing in a map", "machine: {nodeLabels: {pool: }}", "1:30: an empty value (null) has no effect"},
		{"nothing for a map", "machine:\n  nodeLabels:\n", "2:14: an empty value (null) has no effect"},
		{"null for a section", "machine: {kubelet: ~}", "1:20: an empty value (null) has no effect"},
		{"empty string of a field", "machine: {install: {disk: ''}}", "1:27: an empty string has no effect"},
		{"empty list", "machine: {certSANs: []}", "1:21: an empty list has no effect"},
		{"null for a list", "machine: {certSANs: null}", "1:21: an empty value (null) has no effect"},
		{"zero in a free-form map", "machine: {kubelet: {extraConfig: {maxPods: 0}}}", "1:44: the value 0 has no effect"},
		{"empty string in a free-form map", "machine: {kubelet: {extraConfig: {clusterDomain: ''}}}", "1:50: an empty string has no effect"},
		{"empty list in a free-form map", "machine: {kubelet: {extraConfig: {allowedUnsafeSysctls: []}}}", "1:57: an empty list has no effect"},
		{"zero of a field", linkDoc + "mtu: 0\n", "4:6: the value 0 has no effect"},
		{"zero duration", "machine: {time: {bootTimeout: 0s}}", "1:31: the value 0s has no effect"},
		{"zero as octal", "apiVersion: v1alpha1\nkind: EtcFileConfig\nname: x.conf\nmode: 0o000\n", "4:7: the value 0o000 has no effect"},
		{"empty list of a document", linkDoc + "addresses: []\n", "4:12: an empty list has no effect"},

		{"false for a boolean", "machine: {time: {disabled: false}, features: {kubePrism: {enabled: false}}}", ""},
		{"false in a free-form map", "machine: {kubelet: {extraConfig: {serializeImagePulls: false}}}", ""},
		{"false of a document", linkDoc + "up: false\n", ""},
		{"zero for a new key", "machine: {kubelet: {extraConfig: {podsPerCore: 0}}}", ""},
		{"empty string for a new key", "machine: {nodeLabels: {node-role.kubernetes.io/worker: ''}}", ""},
		{"null where nothing is", "machine: {nodeAnnotations: null}", ""},
		{"empty list where nothing is", "machine: {network: {nameservers: []}}", ""},
		{"empty argument", "machine: {kubelet: {extraArgs: {v: ''}}}", ""},
		{"zero through a pointer", "machine: {network: {kubespan: {mtu: 0}}}", ""},
		{"empty item of a list", "machine: {kubelet: {extraConfig: {allowedUnsafeSysctls: ['']}}}", ""},
		{"a zero in text", "machine: {nodeLabels: {pool: '0'}, sysctls: {net.core.somaxconn: 0}}", ""},
		{"an empty size", "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\nprovisioning: {minSize: ''}\n", ""},
		{"the same twice", "machine: {nodeLabels: {x: ''}}\n---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth1\nmtu: 0\n", ""},
		{"empty list with !replace", "machine: {certSANs: !replace []}", ""},
		{"delete", "machine: {certSANs: !delete , nodeLabels: {pool: !delete }}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := applyTexts(testBase(t, "v1.13", Worker), zeroBase, c.patch)
			if c.refused == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), "2.yaml:"+c.refused) || !strings.Contains(err.Error(), "!delete") {
				t.Errorf("it says\n%v\nnot\n%s", err, c.refused)
			}
		})
	}
}

// TestRepeatedValuesWarn: a value that two layers add to a list is there twice.
func TestRepeatedValuesWarn(t *testing.T) {
	for _, c := range []struct {
		name   string
		layers []string
		want   []string // places of warnings
	}{
		{"two layers", []string{"machine: {certSANs: [a, b]}", "machine: {certSANs: [c, a]}"}, []string{"2.yaml:1:21: machine.certSANs"}},
		{"once for a list", []string{"machine: {certSANs: [a, b]}", "machine: {certSANs: [a, b]}", "machine: {certSANs: [b, a]}"}, []string{"3.yaml:1:21: machine.certSANs"}},
		{"once for each list", []string{"machine: {certSANs: [a], time: {servers: [x]}}", "machine:\n  certSANs: [a]\n  time: {servers: [x]}\n"}, []string{"2.yaml:2:13: machine.certSANs", "2.yaml:3:19: machine.time.servers"}},
		{"what Talos sets", []string{"machine: {kubelet: {clusterDNS: [a]}}", "machine: {kubelet: {clusterDNS: [b]}}"}, nil},
		{"in a free-form map", []string{"machine: {kubelet: {extraConfig: {x: [a]}}}", "machine: {kubelet: {extraConfig: {x: [a]}}}"}, []string{"2.yaml:1:38: machine.kubelet.extraConfig.x"}},
		{"in a document of the patches", []string{"apiVersion: v1alpha1\nkind: StaticHostConfig\nname: 10.0.0.1\nhostnames: [a]\n", "apiVersion: v1alpha1\nkind: StaticHostConfig\nname: 10.0.0.1\nhostnames: [a]\n"}, []string{"2.yaml:4:12: hostnames"}},
		{"replaced", []string{"machine: {certSANs: [a, b]}", "machine: {certSANs: !replace [a]}"}, nil},
		{"repeated by one layer", []string{"machine: {install: {extraKernelArgs: [console=a, quiet, console=a]}}", "machine: {install: {extraKernelArgs: [x]}}"}, nil},
		{"repeated by one layer in an item", []string{"machine: {pods: [{kind: Pod, args: [-e, a, -e, b]}]}", "machine: {pods: [{kind: Pod, args: [-e]}]}"}, nil},
		{"lists of lists of items", []string{"machine: {network: {interfaces: [{interface: eth0, addresses: [10.0.0.1/24]}]}}", "machine: {network: {interfaces: [{interface: eth0, addresses: [10.0.0.1/24]}]}}"}, []string{"2.yaml:1:33: machine.network.interfaces[0].addresses"}},
		{"empty strings", []string{"machine: {kubelet: {extraConfig: {x: ['']}}}", "machine: {kubelet: {extraConfig: {x: ['']}}}"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, warnings, err := applyTexts(testBase(t, "v1.13", Worker), c.layers...)
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, w := range warnings {
				have = append(have, w.Pos.String()+": "+strings.TrimSuffix(w.Message, " has a value twice: Talos appends to lists"))
			}
			if strings.Join(have, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("warnings are\n%s\nnot\n%s", strings.Join(have, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
