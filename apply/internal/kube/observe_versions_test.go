package kube

import (
	"testing"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
)

// TestOldest: the versions of control planes decide, the oldest of each, and that of
// the API; those of workers do not, nor what nobody has said.
func TestOldest(t *testing.T) {
	plane := func(talos, kubelet string) Node { return Node{ControlPlane: true, Talos: talos, Kubelet: kubelet} }
	for name, c := range map[string]struct {
		nodes []Node
		want  kubeplan.Versions
	}{
		"none":    {nil, kubeplan.Versions{Kubernetes: "v1.37.0"}},
		"one":     {[]Node{plane("v1.14.1", "v1.37.0")}, kubeplan.Versions{Talos: "v1.14.1", Kubernetes: "v1.37.0"}},
		"unknown": {[]Node{plane("", "")}, kubeplan.Versions{Kubernetes: "v1.37.0"}},
		"mixed": {[]Node{plane("v1.14.1", "v1.36.3"), plane("v1.13.9", "v1.37.0"), {Talos: "v1.12.0", Kubelet: "v1.34.0"}},
			kubeplan.Versions{Talos: "v1.13.9", Kubernetes: "v1.36.3"}},
		"api is newer": {[]Node{plane("v1.14.1", "v1.36.4")}, kubeplan.Versions{Talos: "v1.14.1", Kubernetes: "v1.36.4"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := oldest("v1.37.0", c.nodes); got != c.want {
				t.Errorf("%+v, expected %+v", got, c.want)
			}
		})
	}
}
