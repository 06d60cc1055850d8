package upgrade

import (
	"context"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/versions"
)

// removed is what is known of the uses of API versions that end, while the oldest API
// server is of a version.
type removed struct {
	server string
	uses   []upgradeplan.Removed
}

// observeRemoved notes what is used of the API that ends on the way to Git's Kubernetes. It
// is asked for before each minor: whoever uses it then has had the time to move.
func (u observer) observeRemoved(ctx context.Context, seen *upgradeplan.Observed) error {
	server, goal := "", ""
	for _, n := range seen.Nodes {
		server = upgradepath.Older(server, n.Programs[upgradeplan.APIServer].Running)
	}
	for _, w := range u.Desired.Nodes {
		goal = upgradepath.Newest(goal, w.Kubernetes)
	}
	if !u.ofKubernetes() || server == "" || versions.Minor(server) >= versions.Minor(goal) {
		return nil
	}
	if u.removed.server != server {
		found, err := u.Programs.Removed(ctx, versions.Minor(goal))
		if err != nil {
			return err
		}
		u.removed = removed{server: server}
		for _, use := range found {
			u.removed.uses = append(u.removed.uses, upgradeplan.Removed(use))
		}
	}
	seen.Removed = u.removed.uses
	return nil
}
