package talossim

import (
	"context"
	"maps"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/talosgen/talosgen/internal/versions"
)

// Rollback lets the next boot take the system that it would not take, and reboots. Of
// either bootloader that is the one that is not its default: a second call in one boot
// leads back to what runs. The mark of an upgrade stays as it is.
func (s *service) Rollback(ctx context.Context, _ *machine.RollbackRequest) (r *machine.RollbackResponse, err error) {
	err = s.change(ctx, func() error {
		d := &s.m.disk
		if d.systems[1-d.next] == (System{}) {
			return status.Error(codes.Unknown, "cannot rollback: there is no other system")
		}
		if d.rollbacks++; d.rollbacks > 1 {
			s.m.fleet.violate("%s: a second rollback in one boot", s.m.spec.Name)
		}
		if d.next = 1 - d.next; !s.m.leaving() {
			s.m.goDown(stageRebooting, s.m.boot)
		}
		r = &machine.RollbackResponse{Messages: []*machine.Rollback{{}}}
		return nil
	})
	return r, err
}

// judge notes a system that was started, and cannot live with what it finds: its Talos
// runs no such Kubernetes, or does not read its configuration.
func (m *Machine) judge() {
	release, known := versions.Of(m.spec.Talos)
	if !known {
		return
	}
	if m.active.contract() && release.Minor < firstDocuments {
		m.fleet.violate("%s: Talos %s does not read its configuration", m.spec.Name, m.spec.Talos)
	}
	for name, image := range m.active.images() {
		if minor := versions.Minor(versionOf(image)); minor > release.Newest {
			m.fleet.violate("%s: Talos %s does not run %s 1.%d", m.spec.Name, m.spec.Talos, name, minor)
		}
	}
}

// images are those that the configuration names, by program.
func (c *config) images() map[string]string {
	all := map[string]string{kubelet: c.kubelet}
	maps.Copy(all, c.programs)
	return all
}

// firstDocuments is the first minor of Talos that reads Kubernetes from documents of its
// own.
const firstDocuments = 14

// contract reports whether the configuration has such documents.
func (c *config) contract() bool {
	for _, d := range c.documents {
		if d["kind"] == "KubeClusterConfig" {
			return true
		}
	}
	return false
}
