package upgrade_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/apply/plan/upgrade"
)

var minor = start{1, 1, 0, upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.35.4"}, upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.37.1"}}

// sampledMinors has Git's Talos, and an older Kubernetes.
func sampledMinors() *sample {
	s := sampled(minor)
	for i := range s.seen.Nodes {
		n := &s.seen.Nodes[i]
		n.Schematic, n.Extensions = now, []string{"iscsi"}
	}
	return s
}

// TestImagesOfPrograms: those of a hop come from where Git has its own, with the tag of
// the hop.
func TestImagesOfPrograms(t *testing.T) {
	s := sampledMinors()
	s.want.Nodes[0].Images[upgrade.Kubelet] = "mirror.example.com/kubelet:v1.37.1-slim@sha256:12"
	pulled, configured := map[string]bool{}, map[string]string{}
	for _, step := range upgrade.Make(s.want, s.seen, s.policy).Steps {
		switch {
		case step.Action == upgrade.Pull:
			pulled[step.Node+" "+step.Image] = true
		case step.Action == upgrade.Configure:
			configured[step.Node+" "+step.Component+" "+step.Version] = step.Image
			if step.Component != upgrade.Proxy && !pulled[step.Node+" "+step.Image] {
				t.Errorf("%s gets %s before it has proven that it can", step.Node, step.Image)
			}
		}
	}
	for key, image := range map[string]string{
		"plane-1 kubelet 1.36.3":        "mirror.example.com/kubelet:v1.36.3-slim",
		"plane-1 kubelet 1.37.1":        "mirror.example.com/kubelet:v1.37.1-slim@sha256:12",
		"plane-1 kube-apiserver 1.36.3": "registry.example.com/kube-apiserver:v1.36.3",
		"plane-1 kube-proxy 1.37.1":     "registry.example.com/kube-proxy:v1.37.1",
		"worker-1 kubelet 1.37.1":       "registry.example.com/kubelet:v1.37.1",
	} {
		if configured[key] != image {
			t.Errorf("%s: %q, want %q", key, configured[key], image)
		}
	}
	if len(configured) != 12 {
		t.Errorf("configured: %v", configured)
	}
}

// TestUnnamedImage: without a tag in Git nobody knows that of another version.
func TestUnnamedImage(t *testing.T) {
	s := sampledMinors()
	s.want.Nodes[1].Images[upgrade.Kubelet] = "registry.example.com/kubelet@sha256:12"
	d := upgrade.Next(s.want, s.seen, s.policy)
	if len(d.Steps) > 0 || len(d.Stop) != 1 || d.Stop[0].Node != "worker-1" || !strings.Contains(d.Stop[0].Text, "names no image of kubelet") {
		t.Errorf("%s: %v", short(d), d.Stop)
	}
}

// TestMissingProgram: a program without a pod is not one that runs as configured.
func TestMissingProgram(t *testing.T) {
	s := sampledMinors()
	s.node("plane-1").Programs[upgrade.Scheduler] = upgrade.Program{Configured: "1.35.4", Missing: true}
	if d := upgrade.Next(s.want, s.seen, s.policy); short(d) != "wait plane-1" {
		t.Errorf("%s", short(d))
	}
}
