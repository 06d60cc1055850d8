package cloud

import (
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

func loadBalancerFrom(l *hcloud.LoadBalancer) cloudplan.LoadBalancer {
	out := cloudplan.LoadBalancer{
		Meta:            meta(l.ID, l.Name, l.Labels, l.Created),
		Location:        locationName(l.Location),
		Algorithm:       string(l.Algorithm.Type),
		Protected:       l.Protection.Delete,
		PublicInterface: l.PublicNet.Enabled,
		PublicIPv4:      cloudplan.PublicIP{ID: l.PublicNet.IPv4.ID, IP: address(l.PublicNet.IPv4.IP), DNSPtr: l.PublicNet.IPv4.DNSPtr},
		PublicIPv6:      cloudplan.PublicIP{ID: l.PublicNet.IPv6.ID, IP: address(l.PublicNet.IPv6.IP), DNSPtr: l.PublicNet.IPv6.DNSPtr},
		Services:        convert(l.Services, serviceFrom),
		Targets:         convert(l.Targets, targetFrom),
	}
	if l.LoadBalancerType != nil {
		out.Type = l.LoadBalancerType.Name
	}
	for _, n := range l.PrivateNet {
		out.PrivateNets = append(out.PrivateNets, cloudplan.PrivateNet{Network: n.Network.ID, IP: address(n.IP)})
	}
	return out
}

func serviceFrom(s hcloud.LoadBalancerService) cloudplan.Service {
	h := s.HealthCheck
	out := cloudplan.Service{InfraService: schemas.InfraService{
		Protocol:        string(s.Protocol),
		ListenPort:      s.ListenPort,
		DestinationPort: s.DestinationPort,
		ProxyProtocol:   s.Proxyprotocol,
		HealthCheck: schemas.InfraHealthCheck{
			Protocol: string(h.Protocol),
			Port:     h.Port,
			Interval: int(h.Interval / time.Second),
			Timeout:  int(h.Timeout / time.Second),
			Retries:  h.Retries,
		},
	}}
	if h.HTTP != nil {
		out.Domain = h.HTTP.Domain
		out.HealthCheck.Path = h.HTTP.Path
		out.HealthCheck.Response = h.HTTP.Response
		out.HealthCheck.TLS = h.HTTP.TLS
		out.HealthCheck.StatusCodes = h.HTTP.StatusCodes
	}
	return out
}

func targetFrom(t hcloud.LoadBalancerTarget) cloudplan.Target {
	out := cloudplan.Target{UsePrivateIP: t.UsePrivateIP}
	switch {
	case t.LabelSelector != nil:
		out.Selector = t.LabelSelector.Selector
	case t.Server != nil && t.Server.Server != nil:
		out.Server = t.Server.Server.ID
	case t.IP != nil:
		out.IP = t.IP.IP
	}
	return out
}
