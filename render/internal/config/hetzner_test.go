package config

import (
	"fmt"
	"strings"
	"testing"
)

// A restriction of the API's sources that its load balancer does not follow is
// an error, unless somebody says that it is meant.
func TestOpenLoadBalancer(t *testing.T) {
	for _, tt := range []struct {
		access, firewall, balancer string
		open                       bool
	}{
		{"public", "apiSource: [203.0.113.0/24]", "enabled: true", true},
		{"public", "kubeApiSource: [203.0.113.0/24]", "enabled: true", true},
		{"private", "apiSource: [203.0.113.0/24]", "enabled: true, publicNetwork: true", true},
		{"public", "apiSource: [203.0.113.0/24], kubeApiSource: [0.0.0.0/0]", "enabled: true", false},
		{"public", "apiSource: [203.0.113.0/24], acknowledgeOpenLoadBalancer: true", "enabled: true", false},
		{"public", "apiSource: [203.0.113.0/24]", "enabled: true, publicNetwork: false", false},
		{"public", "apiSource: [203.0.113.0/24]", "enabled: false", false},
		{"public", "talosApiSource: [203.0.113.0/24]", "enabled: true", false},
		{"public", "apiSource: ['::/0']", "enabled: true", false},
		{"public", "", "enabled: true", false},
		{"private", "apiSource: [203.0.113.0/24]", "enabled: true", false},
	} {
		text := strings.Replace(minimal("access: "+tt.access+"\n"), "{region: hel1}",
			fmt.Sprintf("{region: hel1, firewall: {%s}, apiLoadBalancer: {%s}}", tt.firewall, tt.balancer), 1)
		_, err := Load(testFile, alone(text), nil)
		if open := err != nil && strings.Contains(err.Error(), "cluster.yaml:4:36: the Kubernetes API is for 203.0.113.0/24 only, but its load balancer is public"); open != tt.open || !open && err != nil {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// A pool that records no offset is at 0, whatever other pools there are.
func TestOffsetsThatNobodyRecorded(t *testing.T) {
	text := strings.Replace(minimal(""), "{count: 1, type: cpx22}", "{count: 1, type: cpx22}, workers: {nodepools: [{name: a, count: 2, type: cpx22%s}, {name: b, count: %d, type: cpx22%s}]}", 1)
	for _, tt := range []struct {
		a       string
		count   int
		b       string
		overlap bool
	}{
		{"", 1, "", true},
		{"", 0, "", false},
		{"", 1, ", offset: 0", true},
		{"", 1, ", offset: 1", true},
		{"", 1, ", offset: 2", false},
		{", offset: 5", 5, "", false},
		{", offset: 4", 5, "", true},
		{"", 1, ", subnet: 10.0.65.0/25", false},
	} {
		_, err := Load(testFile, alone(fmt.Sprintf(text, tt.a, tt.count, tt.b)), nil)
		if overlap := err != nil && strings.Contains(err.Error(), `the pools "a" and "b" overlap`); overlap != tt.overlap || !overlap && err != nil {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// The limit counts what the autoscaler may add, and the NAT gateway.
func TestServerLimit(t *testing.T) {
	for _, tt := range []struct {
		count, scaled int
		network       string
		fits          bool
	}{
		{99, 0, "", true},
		{100, 0, "", false},
		{50, 49, "", true},
		{50, 50, "", false},
		{98, 0, "publicIpv4: false", true},
		{99, 0, "publicIpv4: false", false},
		{999, 0, "serverLimit: 1000, cidr: 10.0.0.0/8", true},
	} {
		text := strings.Replace(minimal("network: {"+tt.network+"}\n"), "{count: 1, type: cpx22}",
			fmt.Sprintf("{count: 1, type: cpx22}, workers: {nodepools: [{name: a, count: %d, type: cpx22}]}", tt.count), 1) +
			fmt.Sprintf("autoscaler: {nodepools: [{name: s, max: %d, type: cpx22}]}\n", tt.scaled)
		_, err := Load(testFile, alone(text), nil)
		if fits := err == nil; fits != tt.fits {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func TestArm(t *testing.T) {
	for name, want := range map[string]bool{"cax11": true, "cax": false, "cx23": false, "caxy": false, "": false} {
		if Arm(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
