package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// TestNothingChangesSilently: no default of talosgen's comes into a cluster that did not
// have it, whatever its contract is.
func TestNothingChangesSilently(t *testing.T) {
	for _, release := range versions.Releases() {
		t.Run(release.Contract(), func(t *testing.T) {
			c := plain(release)
			folder := c.machines(t, map[string]string{"scheduling": scheduling(release.Minor)})
			for way, o := range map[string]Options{"imported": {From: Talosctl, Dir: folder}, "adopted": {Running: running(folder, release.Talos)}} {
				t.Run(way, func(t *testing.T) { noneChanges(t, c, folder, o) })
			}
		})
	}
}

// running are nodes that run the configurations of a folder.
func running(folder fstest.MapFS, talos string) (nodes []Running) {
	for i, name := range []string{"cp", "worker"} {
		nodes = append(nodes, Running{
			Hostname: name, Address: fmt.Sprintf("192.0.2.%d", 1+i), MAC: fmt.Sprintf("00:00:5e:00:53:0%d", 1+i),
			Talos: talos, Config: secret.New(string(folder[name+".yaml"].Data)),
		})
	}
	return nodes
}

// noneChanges looks for each of the defaults in what is rendered.
func noneChanges(t *testing.T, c cluster, folder fstest.MapFS, o Options) {
	t.Helper()
	r := repository(t)
	if _, err := Import(t.Context(), r, "home", o); err != nil {
		t.Fatal(err)
	}
	texts := rendered(t, r)
	for _, change := range []struct {
		name, text  string
		has, worker bool
	}{
		{"kubelets ask for serving certificates", "rotate-server-certificates", false, true},
		{"kubelets end pods gracefully", "shutdownGracePeriod", false, true},
		{"the cluster's DNS no longer asks the hosts", "forwardKubeDNSToHost: true", true, true},
		{"hosts know the names of others", "resolveMemberNames", false, true},
		{"certificates hold the endpoint", "certSANs:\n        - k8s", false, true},
		{"load balancers lead to control planes", "exclude-from-external-load-balancers", true, false},
		{"time servers", "TimeSyncConfig", false, true},
	} {
		for name, text := range texts {
			if strings.Contains(text, change.text) != change.has && (change.worker || name == "cp") {
				t.Errorf("%s: %s", name, change.name)
			}
		}
	}
	for _, dir := range []string{"bootstrap", "addons", "flux"} {
		if _, err := os.Stat(filepath.Join(r.Root(), "rendered", "home", dir)); err == nil {
			t.Errorf("there are addons: %s", dir)
		}
	}
	c.compare(t, texts, folder)
}

// plain is a cluster of a release, as `talosctl gen config` makes it.
func plain(release versions.Release) cluster {
	c := cluster{Contract: release.Contract(), Talos: release.Talos, Kubernetes: release.Kubernetes, Endpoint: "https://k8s.example.com:6443"}
	for _, n := range []struct {
		file string
		role machine.Role
	}{{"cp.yaml", machine.ControlPlane}, {"worker.yaml", machine.Worker}} {
		var patches []string
		if n.role == machine.ControlPlane {
			patches = []string{"scheduling"}
		}
		c.Nodes = append(c.Nodes, struct {
			File    string
			Role    machine.Role
			Patches []string
		}{n.file, n.role, patches})
	}
	return c
}

// scheduling is a patch that lets pods run on control planes, and leaves the label that
// keeps load balancers away.
func scheduling(minor int) string {
	if minor < 14 {
		return "cluster: {allowSchedulingOnControlPlanes: true}\n"
	}
	return "apiVersion: v1alpha1\nkind: KubeNodeConfig\ntaints: !delete\n"
}
