package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/internal/diag"
)

// Holder is who holds the lock of a cluster.
type Holder = cloud.Holder

// Holder returns who holds the lock of the cluster, or held it and did not
// release it; nil if it is free.
func (s *Session) Holder(ctx context.Context) (*Holder, error) {
	if s.project == nil {
		return nil, s.noProject()
	}
	return s.project.Holder(ctx, s.env.Infrastructure.Cluster)
}

// Unlock takes the lock of the cluster from a run that is dead. It returns who
// held it; nil if it was free.
func (s *Session) Unlock(ctx context.Context) (*Holder, error) {
	if s.project == nil {
		return nil, s.noProject()
	}
	return s.project.Unlock(ctx, s.env.Infrastructure.Cluster)
}

// noProject says that a command is about Hetzner Cloud.
func (s *Session) noProject() error {
	return diag.On("environment "+s.env.name, "its machines exist already: there is nothing at Hetzner Cloud").WithCode(diag.Usage)
}
