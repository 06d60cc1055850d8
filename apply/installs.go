package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/robot"
)

// installs are what a session does with dedicated servers.
type installs struct{ robots *robotStage }

// PlanInstall looks at nodes and at their dedicated servers, and says on which Talos is
// installed. Allow are the keys by which the operator agrees to more.
func (i installs) PlanInstall(ctx context.Context, names, allow []string) (*robot.Plan, error) {
	return i.robots.plan(ctx, names, allow)
}

// Install installs Talos on the servers of a plan of PlanInstall that was agreed to, one
// after the other. No other run changes the cluster meanwhile.
func (i installs) Install(ctx context.Context, agreed *robot.Plan, allow []string, owner Owner) error {
	if err := refused(agreed.Refusals); err != nil {
		return err
	}
	return i.robots.lock.locked(ctx, owner, func() error { return i.robots.execute(ctx, agreed, allow) })
}
