package infra

import (
	"strings"
	"testing"
)

// Load balancers and the floating IP of the Kubernetes API have roles, too.
func TestReverseDNSRoles(t *testing.T) {
	const text = `
clusterName: lab
network: {natGateway: {enabled: false}}
hetzner:
  region: hel1
  rdns: {name: "{{ hostname }}.{{ role }}.example.com"}
  apiLoadBalancer: {enabled: true, publicNetwork: true}
nodes: {controlPlane: {count: 1, type: cpx22}}
ingress: {loadBalancerPools: [{name: edge, count: 1}]}
`
	out, err := Resolve(input(t, map[string]string{"cluster.yaml": text}))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, lb := range out.LoadBalancers {
		names = append(names, lb.ReverseDNS.IPv4, lb.ReverseDNS.IPv6)
	}
	want := "lab-kube-api.kube-api.example.com lab-kube-api.kube-api.example.com lab-edge-1.ingress.example.com lab-edge-1.ingress.example.com"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
