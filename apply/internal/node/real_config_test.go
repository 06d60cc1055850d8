//go:build linux

package node_test

import (
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// changesFile is a patch for all nodes in the test's repository.
const changesFile = "envs/lab/patches/common/changed.yaml"

// settings are changes in Git, for each release: what the comparison with a real
// node has to say of them. Each one replaces the one before, so what that had
// added goes again. All are handed to the node in mode no-reboot.
var settings = map[string][]struct{ patch, want string }{
	"1.13": {
		{"machine: {sysctls: {net.core.somaxconn: '8192'}}",
			`no-reboot ~ v1alpha1 machine.sysctls."net.core.somaxconn": 65535 -> 8192`},
		{"machine: {sysctls: {net.core.somaxconn: '4096'}}",
			`no-reboot ~ v1alpha1 machine.sysctls."net.core.somaxconn": 8192 -> 4096`},
		{"machine: {nodeLabels: {example.com/rack: a}}", `
no-reboot ~ v1alpha1 machine.sysctls."net.core.somaxconn": 4096 -> 65535
no-reboot + v1alpha1 machine.nodeLabels."example.com/rack": a`},
		{"apiVersion: v1alpha1\nkind: TimeSyncConfig\nntp: {servers: [192.0.2.1]}", `
no-reboot - v1alpha1 machine.nodeLabels."example.com/rack": a
no-reboot + TimeSyncConfig ntp.servers[1]: 192.0.2.1`},
		{"machine: {install: {image: 'example.com/installer:v1.13.0'}}", `
no-reboot - TimeSyncConfig ntp.servers[1]: 192.0.2.1
held: upgrade ~ v1alpha1 machine.install.image: ` + installer + `:v1.13.9 -> example.com/installer:v1.13.0`},
		{`machine: {udev: {rules: ['SUBSYSTEM=="tty"']}}`,
			`reboot + v1alpha1 machine.udev.rules[0]: SUBSYSTEM=="tty"`},
	},
	"1.14": {
		{"machine: {sysctls: {net.core.somaxconn: '8192'}}",
			`no-reboot ~ v1alpha1 machine.sysctls."net.core.somaxconn": 65535 -> 8192`},
		{"apiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: {example.com/rack: a}", `
no-reboot ~ v1alpha1 machine.sysctls."net.core.somaxconn": 8192 -> 65535
no-reboot + KubeNodeConfig labels."example.com/rack": a`},
		{"apiVersion: v1alpha1\nkind: UnattendedInstallConfig\ninstaller: {image: 'example.com/installer:v1.14.0'}", `
no-reboot - KubeNodeConfig labels."example.com/rack": a
held: upgrade ~ UnattendedInstallConfig installer.image: ` + installer + `:v1.14.1 -> example.com/installer:v1.14.0`},
		{"apiVersion: v1alpha1\nkind: UdevRulesConfig\nrules: ['SUBSYSTEM==\"tty\"']",
			`reboot + UdevRulesConfig rules[0]: SUBSYSTEM=="tty"`},
	},
}

// installer is that of the schematic that a new environment has.
const installer = "factory.talos.dev/metal-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// TestRealSettings compares what a node has with what Git has, and hands it
// over: what it has after that must compare as equal.
func TestRealSettings(t *testing.T) {
	for _, release := range []string{"1.13", "1.14"} {
		t.Run(release, func(t *testing.T) {
			cluster := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Talos: release})
			machine := cluster.ControlPlanes[0]
			repository := cluster.NewRepository(t)
			client := configure(t, machine, secret.New(string(repository.MachineConfig(machine))))
			for _, s := range settings[release] {
				repository.Change(changesFile, s.patch+"\n")
				desired := parseConfig(t, repository.MachineConfig(machine))
				d := difference(t, client, desired)
				if got, want := describe(d), strings.TrimPrefix(s.want, "\n"); got != want {
					t.Errorf("%s\nthe differences are\n%s\nwant\n%s", s.patch, got, want)
				}
				taken(t, client, desired, d, release == "1.13" && d.Class() == nodeconfig.Reboot)
			}
		})
	}
}

// taken hands a configuration over, after which only what is held differs. Talos
// 1.13 refuses what needs a reboot, without a word of what it has.
func taken(t *testing.T, client *node.Client, desired *nodeconfig.Config, d *nodeconfig.Difference, refuses bool) {
	t.Helper()
	_, err := client.Apply(t.Context(), d.Send, node.NoReboot)
	if refuses {
		checkProblem(t, err, diag.Remote, "this config change can't be applied in immediate mode", "reboot")
		if strings.Contains(err.Error(), "tty") {
			t.Errorf("the error shows the configuration: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if after := difference(t, client, desired); len(after.Changes) > 0 || len(after.Held) != len(d.Held) {
		t.Errorf("after it was taken, there are differences:\n%s", describe(after))
	}
}

// configure takes a node from maintenance mode to where it waits for an etcd.
func configure(t *testing.T, machine *talosenv.Node, config secret.String) *node.Client {
	t.Helper()
	target := node.Target{Name: machine.Name, Address: machine.Address.String()}
	maintenance, err := node.Maintenance(target, reach.Direct{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer maintenance.Close()
	if _, err := maintenance.Apply(t.Context(), config, node.Auto); err != nil {
		t.Fatal(err)
	}
	client, err := node.Connect(target, reach.Direct{}, signed(t, config, time.Hour), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if err := client.WaitStage(t.Context(), realClock, patient, node.StageBooting, node.StageRunning); err != nil {
		t.Fatal(err)
	}
	return client
}

func parseConfig(t *testing.T, text []byte) *nodeconfig.Config {
	t.Helper()
	c, err := nodeconfig.Parse("nodes/cp-1.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// difference reads back what a node has, and compares.
func difference(t *testing.T, client *node.Client, desired *nodeconfig.Config) *nodeconfig.Difference {
	t.Helper()
	active, err := client.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, err := nodeconfig.Compare(parseConfig(t, []byte(active.Reveal())), desired, nodeconfig.Running{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func describe(d *nodeconfig.Difference) string {
	var lines []string
	for _, c := range d.Changes {
		lines = append(lines, string(c.Class)+" "+c.String())
	}
	for _, c := range d.Held {
		lines = append(lines, "held: "+string(c.Class)+" "+c.String())
	}
	return strings.Join(lines, "\n")
}
