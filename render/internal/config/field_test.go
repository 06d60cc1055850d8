package config

import (
	"testing"

	"github.com/talosgen/talosgen/render/internal/subst"
)

// TestFieldPlaces: a field that is given by its address has the place that its
// path has, whatever is before it in memory.
func TestFieldPlaces(t *testing.T) {
	c, err := Load("cluster.yaml", Files{"cluster.yaml": []byte(`clusterName: web
provider: static
endpoint: https://10.0.0.1:6443
nodes:
  controlPlane:
    nodes: [{name: a, match: {mac: "00:00:5e:00:53:01"}, address: 10.0.0.2/24, installDisk: /dev/sda}]
kubernetes:
  kubelet: {image: registry.example.com/kubelet:v1, extraArgs: {v: 3}}
talos:
  kernelModules:
    - {name: a}
    - {name: b, parameters: [c, d]}
`)}, &subst.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		field any
		below []string
		path  []string
	}{
		{&c.ClusterName, nil, []string{"clusterName"}},
		{&c.Talos, nil, []string{"talos"}},
		{&c.Kubernetes.Kubelet, nil, []string{"kubernetes", "kubelet"}},
		{&c.Kubernetes.Kubelet.Image, nil, []string{"kubernetes", "kubelet", "image"}},
		{&c.Kubernetes.Kubelet.ExtraArgs, []string{"v"}, []string{"kubernetes", "kubelet", "extraArgs", "v"}},
		{&c.Talos.KernelModules[1].Name, nil, []string{"talos", "kernelModules", "1", "name"}},
		{&c.Talos.KernelModules[1].Parameters, []string{"0"}, []string{"talos", "kernelModules", "1", "parameters", "0"}},
	} {
		if got, want := c.At(test.field, test.below...), c.Pos(test.path...); got != want || got.Line == 0 {
			t.Errorf("%v is at %v, not at %v", test.path, got, want)
		}
	}
	if got := c.At(&c.Talos.KubePrism.Port); got.Line != 0 {
		t.Errorf("what the file does not set is at %v", got)
	}
	if got := c.NearField(&c.Talos.KubePrism.Port); got != c.Pos("talos") {
		t.Errorf("the nearest place of it is %v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("what is no field of the cluster has a place")
		}
	}()
	copied := c.Talos
	c.At(&copied.KubePrism.Port)
}
