package machine

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// benchShared are layers that nodes have in common.
var benchShared = []string{
	`
	machine:
	  certSANs: [k8s.example.org, 10.0.0.1]
	  sysctls: {net.core.somaxconn: "4096", vm.max_map_count: "262144"}
	  kernel: {modules: [{name: br_netfilter}, {name: nvme_tcp}]}`,
	`
	machine:
	  registries:
	    mirrors:
	      docker.io: {endpoints: [https://mirror.example.org]}
	  time: {servers: [ntp1.example.org, ntp2.example.org]}`,
	`
	apiVersion: v1alpha1
	kind: UserVolumeConfig
	name: data
	provisioning:
	  diskSelector: {match: disk.transport == "nvme"}
	  minSize: 100GB
	---
	apiVersion: v1alpha1
	kind: WatchdogTimerConfig
	device: /dev/watchdog0
	timeout: 5m`,
}

// benchNode are the layers of one node.
var benchNode = []string{
	"machine: {udev: {rules: ['SUBSYSTEM==\"net\", ATTR{address}==\"00:11:22:33:44:${N}\"']}}",
	`
	apiVersion: v1alpha1
	kind: LinkConfig
	name: eth1
	mtu: 1400
	addresses: [{address: "10.1.0.${N}/24"}]
	routes: [{destination: 10.2.0.0/16, gateway: 10.1.0.1}]`,
	"machine: {sysctls: {kernel.hostname.note: '${TOKEN}'}}",
}

// BenchmarkNode measures what a render does for each node, apart from writing:
// load its patches, compose, validate, read the leaves and tell the secret ones.
func BenchmarkNode(b *testing.B) {
	for _, contract := range []string{"v1.13", "v1.14"} {
		for _, role := range []Role{Worker, ControlPlane} {
			b.Run(fmt.Sprintf("%s/%s", contract, role), func(b *testing.B) { benchmarkNodes(b, contract, role) })
		}
	}
}

func benchmarkNodes(b *testing.B, contract string, role Role) {
	base := testBase(b, contract, role)
	shared, err := loadAll(benchShared, LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	composer := NewComposer()
	b.ReportAllocs()
	before := cpuTime(b)
	for i := 0; b.Loop(); i++ {
		if err := benchmarkNode(composer, base, shared, contract, role, i); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpuTime returns the processor time that the process has used, the garbage
// collector's included: on a busy machine it says more than the clock.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchmarkNode(composer *Composer, base *Config, shared []*Patch, contract string, role Role, i int) error {
	name := fmt.Sprintf("node-%d", i)
	scope := &subst.Scope{Vars: subst.Vars{
		"N": {Value: fmt.Sprint(i%90 + 10)}, "NODE_NAME": {Value: name}, "TOKEN": {Value: "not-a-real-token", Secret: true},
	}}
	options, err := OptionsPatch("cluster.yaml", NodeOptions{
		Hostname: Option{name, diag.Pos{Line: 3}},
		Labels:   OptionMap{"pool": {Value: "a"}, "zone": {Value: "b"}},
	}, role, contract)
	if err != nil {
		return err
	}
	patches := shared[:len(shared):len(shared)]
	for j, text := range benchNode {
		p, err := LoadPatch(Source{File: fmt.Sprintf("nodes/%s/%d.yaml", name, j), Data: []byte(unindent(text))}, LoadOptions{Scope: scope, PerNode: true})
		if err != nil {
			return err
		}
		patches = append(patches, p)
	}
	cfg, _, err := composer.Compose(base, options, patches)
	if err != nil {
		return err
	}
	if _, problems, err := cfg.Validate(Metal, contract == "v1.14"); err != nil || len(problems) > 0 {
		return fmt.Errorf("%v: %v", err, problems)
	}
	for _, d := range cfg.Documents() {
		if _, err := d.Leaves(); err != nil {
			return err
		}
		if _, err := cfg.Secret(d); err != nil {
			return err
		}
	}
	return nil
}
