package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/schemas"
)

// autoscaledSuffix ends the names of servers that the autoscaler of a generated cluster
// makes.
const autoscaledSuffix = "1f2c"

// autoscale lets the autoscaler make a server of each of its pools.
func (s *generatedSite) autoscale() error {
	api := s.kubernetes()
	if api == nil || len(s.infra.AutoscalerPools) == 0 || len(s.list("networks")) != 1 {
		return nil
	}
	scaler := autoscaler{api, &simProject{s.sim}}
	if _, found, err := scaler.config(); err != nil || !found {
		return err // another addon, or none
	}
	for _, pool := range s.infra.AutoscalerPools {
		if err := scaler.make(pool, autoscaledSuffix); err != nil {
			return err
		}
		s.autoscaled++
	}
	for range 3 { // a server starts, boots, and installs itself, each as somebody asks
		s.list("servers")
		if err := s.clock.Sleep(context.Background(), 5*time.Minute); err != nil {
			return err
		}
	}
	for _, pool := range s.infra.AutoscalerPools {
		if m := s.fleet.Machine(pool.Group + "-" + autoscaledSuffix); m == nil || m.Stage() != "running" {
			return fmt.Errorf("the server of %s is no node", pool.Group)
		}
	}
	return s.settled()
}

// kubernetes is the API of the cluster; nil if there is none.
func (s *generatedSite) kubernetes() *kubesim.API {
	for _, server := range s.infra.Servers {
		if server.Role == schemas.RoleControlPlane {
			if api := s.fleet.Kubernetes(server.Name); api != nil {
				return api
			}
		}
	}
	return nil
}

// namesAutoscaled are the nodes of the autoscaler that a plan may name, and whether it
// has to: their configuration has changed, or nobody is let in to compare it. Those are
// in lost.
func (s *generatedSite) namesAutoscaled(changed []string) (differs map[string]bool, lost []string) {
	differs = map[string]bool{}
	for _, server := range s.list("servers") {
		of, _ := server.(map[string]any)
		labels, _ := of["labels"].(map[string]any)
		group, _ := labels[schemas.LabelNodeGroup].(string)
		i := slices.IndexFunc(s.infra.AutoscalerPools, func(p schemas.InfraAutoscalerPool) bool { return p.Group == group && p.Discovery })
		if group == "" || i < 0 {
			continue
		}
		closed := s.infra.Access.Mode == "public" && s.infra.Access.Jump == "" && labels[schemas.LabelCluster] != s.infra.Cluster
		name, _ := of["name"].(string)
		if closed {
			lost = append(lost, name)
		}
		differs[name] = closed || slices.Contains(changed, "autoscaler/"+group+".yaml")
	}
	return differs, lost
}
