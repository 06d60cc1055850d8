package nodeconfig_test

import (
	"strings"
	"testing"
)

// TestWithSection moves an image, and what the program is started with, at once; nothing
// else, and in another contract the image only.
func TestWithSection(t *testing.T) {
	git := strings.NewReplacer("v1.36.3", "v1.37.1", "type: controlplane", "type: worker").Replace(sections)
	git = strings.Replace(git, "  kubelet:\n", "  kubelet:\n    extraArgs: {v: \"4\"}\n    extraConfig:\n      featureGates: {A: true}\n    clusterDNS: [10.96.0.10]\n", 1)
	active := strings.Replace(sections, "  kubelet:\n", "  kubelet:\n    extraArgs: {pod-infra-container-image: x}\n", 1)
	const image = "registry.example.com/kubelet:v1.37.1-slim"
	send, changed, err := parse(t, active).WithSection("kubelet", image, parse(t, git))
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	got := parse(t, send.Reveal())
	var sets []string
	for _, s := range got.Sets() {
		sets = append(sets, s.Path)
	}
	if all := strings.Join(sets, " "); all != "machine.kubelet.extraArgs.v machine.kubelet.extraConfig.featureGates.A" || got.Images()["kubelet"] != image {
		t.Errorf("it sets %s", all)
	}
	if text := send.Reveal(); !strings.Contains(text, "type: controlplane") || strings.Contains(text, "clusterDNS") || strings.Contains(text, "kube-proxy:v1.37.1") {
		t.Errorf("something else moved:\n%s", text)
	}
	if _, changed, err := parse(t, send.Reveal()).WithSection("kubelet", image, parse(t, git)); err != nil || changed {
		t.Errorf("the same is a change: %v, %v", changed, err)
	}
	if send, _, err := parse(t, active).WithSection("kubelet", image, parse(t, documents)); err != nil || !strings.Contains(send.Reveal(), "pod-infra") {
		t.Errorf("another contract: %v\n%s", err, send.Reveal())
	}
}
