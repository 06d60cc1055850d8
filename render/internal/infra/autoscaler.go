package infra

import (
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/schemas"
)

// autoscalerPools are the pools that the autoscaler scales; none if it is off.
func (r *resolver) autoscalerPools() []schemas.AutoscalerPool {
	if !r.c.Autoscaler.Enabled {
		return nil
	}
	return r.c.Autoscaler.NodePools
}

// autoscaler resolves the pools whose servers the cluster makes. They have no
// label managed-by: talosgen does not make them.
func (r serverResolver) autoscaler() {
	a, public, nodes := r.c.Autoscaler, r.c.Network, r.c.AutoscaledNodes()
	for i, p := range r.autoscalerPools() {
		r.out.AutoscalerPools = append(r.out.AutoscalerPools, schemas.InfraAutoscalerPool{
			Name: p.Name, Group: r.name(p.Name), Min: p.Min, Max: p.Max, Type: p.Type, Location: p.Location,
			Image: imageResolver(r).image(p.Type, nodes[i].Image()), IPRange: r.c.AutoscalerSubnet(p).String(),
			PublicIPv4: public.PublicIPv4, PublicIPv6: public.PublicIPv6,
			Labels:    map[string]string{labelCluster: r.c.ClusterName, labelRole: config.Worker, labelPool: p.Name},
			Discovery: a.Discovery, Cleanup: a.Cleanup,
		})
	}
}
