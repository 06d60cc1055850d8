package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/output"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/progress"
)

// Outputs reads the tree, and asks Hetzner for what is not in it.
func (s *Session) Outputs(ctx context.Context) (*output.Cluster, error) {
	var o cloudplan.Observed
	err := s.log.stage("observe", 0, func(progress.Stage) (err error) {
		if s.project != nil {
			o, err = s.project.ObserveSettled(ctx, s.env.Infrastructure)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := output.Of(&s.env.Infrastructure, &o)
	out.Environment = s.env.Name()
	for _, name := range s.env.NodeNames() {
		out.KubernetesVersion, out.TalosVersion, err = s.env.versions(ctx, "nodes/"+name+".yaml")
		return out, err
	}
	return out, nil
}
