package cloud

import (
	"slices"
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

func TestFacts(t *testing.T) {
	balancer := LoadBalancer{
		Meta: Meta{ID: 1, Name: "prod-kube-api"}, PublicInterface: true,
		PublicIPv4: PublicIP{IP: "203.0.113.7"}, PublicIPv6: PublicIP{IP: "2001:db8::7"},
	}
	ingress := balancer
	ingress.Meta = Meta{ID: 2, Name: "prod-ingress"}
	hidden := balancer
	hidden.PublicInterface = false
	api := schemas.InfraAPI{External: []schemas.InfraTarget{{Kind: schemas.TargetLoadBalancer, Name: "prod-kube-api"}}}
	known := schemas.FactAddress{Kind: "loadBalancer", Name: "prod-kube-api", IPv4: "203.0.113.7", IPv6: "2001:db8::7"}
	floating := []schemas.InfraFloatingIP{{Name: "prod-kube-api", Type: "ipv4"}, {Name: "prod-six", Type: "ipv6"}, {ExistingID: 44, Type: "ipv4"}}

	for _, tt := range []struct {
		name     string
		desired  schemas.Infrastructure
		observed Observed
		want     []schemas.FactAddress
	}{
		{"a load balancer of the API, and no other", schemas.Infrastructure{KubernetesAPI: api}, Observed{LoadBalancers: []LoadBalancer{ingress, balancer}}, []schemas.FactAddress{known}},
		{"without public addresses", schemas.Infrastructure{KubernetesAPI: api}, Observed{LoadBalancers: []LoadBalancer{hidden}}, nil},
		{"not there yet", schemas.Infrastructure{KubernetesAPI: api, FloatingIPs: floating}, Observed{}, nil},
		{
			"floating IPs", schemas.Infrastructure{FloatingIPs: floating},
			Observed{FloatingIPs: []FloatingIP{
				{Meta: Meta{ID: 41, Name: "prod-kube-api"}, Type: "ipv4", IP: "203.0.113.8"},
				{Meta: Meta{ID: 42, Name: "prod-six"}, Type: "ipv6", IP: "2001:db8:1::/64"},
				{Meta: Meta{ID: 43, Name: "other"}, Type: "ipv4", IP: "203.0.113.9"},
				{Meta: Meta{ID: 44, Name: "ours, by hand"}, Type: "ipv4", IP: "203.0.113.10"},
			}},
			[]schemas.FactAddress{
				{Kind: "floatingIp", Name: "prod-kube-api", IPv4: "203.0.113.8"},
				{Kind: "floatingIp", Name: "prod-six", IPv6: "2001:db8:1::1"},
				{Kind: "floatingIp", Name: "44", IPv4: "203.0.113.10"},
			},
		},
		{
			"a server's addresses go with it",
			schemas.Infrastructure{KubernetesAPI: schemas.InfraAPI{External: []schemas.InfraTarget{{Kind: schemas.TargetServer, Name: "prod-control-plane-1"}}}},
			Observed{Servers: []Server{{Meta: Meta{Name: "prod-control-plane-1"}, PublicIPv4: PublicIP{IP: "203.0.113.11"}}}}, nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Facts(tt.desired, tt.observed); !slices.Equal(got, tt.want) {
				t.Errorf("got %v\nwant %v", got, tt.want)
			}
		})
	}
}
