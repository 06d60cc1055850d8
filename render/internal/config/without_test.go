package config

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render/internal/subst"
)

const withOptions = `clusterName: demo
cni: &cni {type: cilium, hubble: {enabled: true}}
hetzner: {region: hel1, sshKeys: [a, b]}
nodes:
  controlPlane: {count: 3, type: cpx22, labels: {example.com/tier: front}}
`

// The options of a file are its values, lists whole, in their order.
func TestOptions(t *testing.T) {
	c, err := Load(testFile, alone(withOptions), &subst.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range c.Options() {
		got = append(got, strings.Join(o, " "))
	}
	want := []string{"clusterName", "cni type", "cni hubble enabled", "hetzner region", "hetzner sshKeys",
		"nodes controlPlane count", "nodes controlPlane type", "nodes controlPlane labels example.com/tier"}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("got %v", got)
	}
}

// Without an option its default counts, and it is told if the file needs it.
func TestLoadWithout(t *testing.T) {
	c, needed, err := LoadWithout(testFile, alone(withOptions), &subst.Scope{}, []string{"cni", "hubble", "enabled"})
	if err != nil || needed || c.CNI.Hubble.Enabled || c.CNI.Type != "cilium" {
		t.Errorf("got %+v, %t, %v", c, needed, err)
	}
	c, needed, err = LoadWithout(testFile, alone(withOptions), &subst.Scope{}, []string{"clusterName"})
	if err != nil || !needed || c.ClusterName != "" || c.CNI.Type != "cilium" {
		t.Errorf("got %+v, %t, %v", c, needed, err)
	}
	for _, option := range [][]string{{"cni", "gatewayApi"}, {"clusterName", "x"}, nil} {
		if _, _, err := LoadWithout(testFile, alone(withOptions), &subst.Scope{}, option); err == nil {
			t.Errorf("%v can be left out", option)
		}
	}
}
