package nodeconfig_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

const (
	sections = `version: v1alpha1
machine:
  type: controlplane
  kubelet:
    image: registry.example.com/kubelet:v1.36.3-slim # from here
cluster:
  apiServer:
    image: registry.example.com:5000/kube-apiserver:v1.36.3@sha256:12
  scheduler:
    disabled: true
  proxy:
    disabled: false
    image: registry.example.com/kube-proxy:v1.36.3
`
	documents = `version: v1alpha1
machine:
  type: controlplane
---
apiVersion: v1alpha1
kind: KubeClusterConfig
endpoint: https://192.0.2.1:6443
---
apiVersion: v1alpha1
kind: KubeletConfig
image: ghcr.io/siderolabs/kubelet:v1.36.3
---
apiVersion: v1alpha1
kind: KubeProxyConfig
enabled: false
`
)

// TestImages reads what programs a configuration names, of both contracts.
func TestImages(t *testing.T) {
	for _, c := range []struct {
		text, contract, disabled string
		images                   map[string]string
	}{
		{sections, nodeconfig.ContractSections, "kube-scheduler", map[string]string{"kubelet": "registry.example.com/kubelet:v1.36.3-slim",
			"kube-apiserver": "registry.example.com:5000/kube-apiserver:v1.36.3@sha256:12", "kube-proxy": "registry.example.com/kube-proxy:v1.36.3"}},
		{documents, nodeconfig.ContractDocuments, "kube-proxy", map[string]string{"kubelet": "ghcr.io/siderolabs/kubelet:v1.36.3"}},
	} {
		config := parse(t, c.text)
		if config.Contract() != c.contract || !maps.Equal(config.Images(), c.images) {
			t.Errorf("%s with %v", config.Contract(), config.Images())
		}
		if version := config.Kubernetes(); version != "v1.36.3" { // of any variant
			t.Errorf("Kubernetes is %s", version)
		}
		for _, program := range []string{"kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"} {
			if config.Disabled(program) != (program == c.disabled) {
				t.Errorf("%s: %s is disabled: %v", c.contract, program, config.Disabled(program))
			}
		}
	}
}

// TestWithImage changes one image and nothing else; the same one is no change.
func TestWithImage(t *testing.T) {
	for _, c := range []struct{ text, program, image, was, is string }{
		{sections, "kubelet", "registry.example.com/kubelet:v1.37.1-slim", "kubelet:v1.36.3-slim # from here", "kubelet:v1.37.1-slim # from here"},
		{sections, "kube-proxy", "registry.example.com/kube-proxy:v1.37.1", "kube-proxy:v1.36.3", "kube-proxy:v1.37.1"},
		{documents, "kubelet", "mirror.example.com/kubelet:v1.37.1", "image: ghcr.io/siderolabs/kubelet:v1.36.3", "image: mirror.example.com/kubelet:v1.37.1"},
	} {
		send, changed, err := parse(t, c.text).WithImage(c.program, c.image)
		if err != nil || !changed || send.Reveal() != strings.Replace(c.text, c.was, c.is, 1) {
			t.Errorf("%s: %v, %v:\n%s", c.program, changed, err, send.Reveal())
		}
		if _, changed, err := parse(t, send.Reveal()).WithImage(c.program, c.image); err != nil || changed {
			t.Errorf("%s: the same image is a change: %v, %v", c.program, changed, err)
		}
	}
	for text, program := range map[string]string{sections: "kube-controller-manager", documents: "kube-scheduler"} {
		send, changed, err := parse(t, text).WithImage(program, "registry.example.com/it:v1.37.1")
		if err != nil || !changed || parse(t, send.Reveal()).Images()[program] != "registry.example.com/it:v1.37.1" {
			t.Errorf("%s, which was not named: %v, %v:\n%s", program, changed, err, send.Reveal())
		}
	}
	if _, _, err := parse(t, "kind: KubeClusterConfig\n").WithImage("kube-scheduler", "it:v1"); err == nil {
		t.Error("there is no place for it")
	}
}

// TestImageAt: of another version, but from the same place and of the same variant.
func TestImageAt(t *testing.T) {
	for _, c := range []struct{ image, version, at, own string }{
		{"registry.k8s.io/kube-proxy:v1.37.1", "1.36.3", "registry.k8s.io/kube-proxy:v1.36.3", "v1.37.1"},
		{"localhost:5000/kubelet:v1.37.1-fat", "v1.36.3", "localhost:5000/kubelet:v1.36.3-fat", "v1.37.1"},
		{"localhost:5000/kubelet:1.37.1@sha256:12", "v1.37.1", "localhost:5000/kubelet:1.37.1@sha256:12", "1.37.1"},
		{"localhost:5000/kubelet:1.37.1@sha256:12", "1.36.3", "localhost:5000/kubelet:1.36.3", "1.37.1"},
		{"localhost:5000/kubelet@sha256:12", "1.36.3", "", ""},
		{"", "1.36.3", "", ""},
	} {
		if at, known := nodeconfig.ImageAt(c.image, c.version); at != c.at || known != (c.at != "") {
			t.Errorf("%q at %s is %q, %v", c.image, c.version, at, known)
		}
		if own := nodeconfig.ImageVersion(c.image); own != c.own {
			t.Errorf("%q has the version %q", c.image, own)
		}
	}
}
