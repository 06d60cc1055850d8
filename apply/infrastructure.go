package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/schemas"
)

// infrastructure is the infrastructure while a run changes it. What it executes
// was planned from what was there after the last change; what somebody agreed to
// bounds that, and is never executed itself.
type infrastructure struct {
	*cloudStage
	report *Report
	agreed *cloudplan.Plan // what somebody agreed to
	latest *cloudplan.Plan // what was planned last, with all that this run leaves alone
	old    bool            // something was changed since, outside of the infrastructure
	all    part            // what this run does at all
	policy Policy
	owner  Owner
}

// change makes the changes of a part of what has to be done, and notes what was
// done. With nothing to change, it does not look again.
func (i *infrastructure) change(ctx context.Context, of part) (err error) {
	steps := len(of(i.latest).Changes)
	if steps == 0 || i.project == nil {
		i.report.left(i.all(i.latest))
		return nil
	}
	return i.log.stage(string(StageInfrastructure), steps, func(stage progress.Stage) error {
		if i.old {
			if err := i.plan(ctx); err != nil {
				return err
			}
		}
		_, err := i.loop(stage, of).Converge(ctx, of(i.latest), execute.Options[cloudplan.Change]{
			Parallel: i.parallel,
			Report:   func(e execute.Event[cloudplan.Change]) { i.report.note(stage, e) },
		})
		i.report.left(i.report.without(i.all(i.latest)))
		return err
	})
}

// plan plans from what is there now.
func (i *infrastructure) plan(ctx context.Context) error {
	o, err := i.project.ObserveSettled(ctx, i.agreed.Desired)
	if err != nil {
		return err
	}
	o.Answers = i.agreed.Observed.Answers // what a run disturbs answers when it has come up
	next, err := again(i.agreed)(i.agreed.Desired, o, i.policy.Consent)
	if err == nil {
		i.latest, i.old = next, false
	}
	return err
}

// loop is how a part of what has to be done is made so.
func (i *infrastructure) loop(stage progress.Stage, of part) execute.Loop[*cloudplan.Plan, cloudplan.Change] {
	loop := execute.Infrastructure(i.agreed)
	loop.Stale, loop.Sleep = cloud.Stale, i.clock.Sleep
	loop.Again = func(ctx context.Context) (*cloudplan.Plan, error) {
		err := i.plan(ctx)
		return of(i.latest), err
	}
	loop.Executor = func(p *cloudplan.Plan) execute.Do[cloudplan.Change] {
		do := i.project.Executor(p, cloud.Inputs{HostKey: i.env.hostKey, Image: i.images.step(stage, i.owner), Notes: i.record.notes()}).Do
		return i.watch.watched(p, stage, gatewayAsker{i.watch.connect.reach, i.clock}.ready(p, do))
	}
	return loop
}

// before makes the changes that nodes do not have to leave the cluster for.
func (i *infrastructure) before(ctx context.Context) error { return i.change(ctx, holding(all)) }

// after makes those that are left, once the nodes were changed. It reports whether
// there are servers of nodes that were not there before.
func (i *infrastructure) after(ctx context.Context) (more bool, err error) {
	known := i.latest.Observed
	i.old = true
	if err := i.change(ctx, standing(i.all)); err != nil {
		return false, err
	}
	return i.newNodes(known, i.latest.Observed), nil
}

// around makes the changes before and after those of the nodes, as often as that makes
// servers that have to join.
func (i *infrastructure) around(ctx context.Context, r *run, nodes stage) error {
	for range rounds {
		if err := i.before(ctx); err != nil {
			return err
		}
		if err := nodes.execute(ctx, r); err != nil {
			return err
		}
		if more, err := i.after(ctx); err != nil || !more {
			return err
		}
	}
	return nil
}

// newNodes reports whether there are servers of nodes that were not there before.
func (i *infrastructure) newNodes(before, now cloudplan.Observed) bool {
	return slices.ContainsFunc(now.Servers, func(server cloudplan.Server) bool {
		return rolesOfNodes[schemas.RoleOf(server.Labels)] != "" && i.inventory.owns(server) &&
			!slices.ContainsFunc(before.Servers, func(b cloudplan.Server) bool { return b.ID == server.ID })
	})
}

// again returns how a plan is made.
func again(p *cloudplan.Plan) func(schemas.Infrastructure, cloudplan.Observed, plan.Consent) (*cloudplan.Plan, error) {
	if p.Destroy {
		return cloudplan.Destroy
	}
	return cloudplan.Make
}
