package apply

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/upgrade"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
)

// Upgrader brings the nodes of a cluster to the versions that Git has.
type Upgrader struct {
	session *Session
	policy  upgradeplan.Policy
}

// NewUpgrader returns the upgrader of a session, for what a policy allows.
func NewUpgrader(s *Session, policy upgradeplan.Policy) *Upgrader {
	return &Upgrader{session: s, policy: policy}
}

// Plan observes the cluster, and returns what [Upgrader.Run] would do. Nothing is
// changed.
func (u *Upgrader) Plan(ctx context.Context) (p *upgradeplan.Plan, err error) {
	executor, err := u.executor(ctx, "")
	if err != nil {
		return nil, err
	}
	err = u.session.log.stage("observe nodes", 0, func(stage progress.Stage) error {
		executor.Notify = notes(stage)
		p, err = executor.Plan(ctx)
		return err
	})
	return p, err
}

// Run upgrades the nodes as a plan says that the operator agreed to. It can be
// interrupted at any moment, and run again. The report says what was done also if
// there is an error.
func (u *Upgrader) Run(ctx context.Context, agreed *upgradeplan.Plan, owner Owner) (*Report, error) {
	s := u.session
	r := newReport(s.env, s.log, nil)
	r.upgrade.agreed = agreed
	if err := mayBegin(agreed); err != nil {
		return r, err
	}
	if agreed.Empty() {
		r.ended = true
		return r, agreed.LeftUnreached()
	}
	var left error
	err := s.lock.locked(ctx, owner, func() error {
		executor, err := u.executor(ctx, owner.Run)
		if err != nil {
			return err
		}
		return s.log.stage("upgrade", len(agreed.Steps), func(stage progress.Stage) error {
			executor.Expected = agreed.Nodes()
			u.report(executor, stage, r)
			err := executor.Run(ctx)
			r.upgrade.stopped, left = executor.Stopped, executor.Left
			return err
		})
	})
	r.took(s.log)
	if err == nil {
		r.ended, r.upgrade.complete, err = true, left == nil, left
	}
	return r, err
}

// report lets a stage, and the report of the run, know what the executor does.
func (u *Upgrader) report(executor *upgrade.Upgrade, stage progress.Stage, r *Report) {
	var mu sync.Mutex // some steps are taken at once
	executor.Notify = notes(stage)
	executor.Began = func(s upgradeplan.Step) { notifyStep(stage, upgrade.Name(s), execute.Started, nil) }
	executor.Ended = func(s upgradeplan.Step, err error) {
		if err != nil {
			notifyStep(stage, upgrade.Name(s), execute.Failed, err)
			return
		}
		mu.Lock()
		r.upgrade.steps = append(r.upgrade.steps, s)
		mu.Unlock()
		notifyStep(stage, upgrade.Name(s), execute.Done, nil)
	}
}

// autoscaled are the nodes that are named and can only be of the autoscaler: whether one is
// there is seen later.
func (u *Upgrader) autoscaled() (names []string) {
	for _, name := range u.policy.Nodes {
		for _, p := range u.session.env.Infrastructure.AutoscalerPools {
			if strings.HasPrefix(name, p.Group+"-") {
				names = append(names, name)
			}
		}
	}
	return names
}

// executor prepares to observe and upgrade the nodes.
func (u *Upgrader) executor(ctx context.Context, id string) (*upgrade.Upgrade, error) {
	s := u.session
	desired, err := s.nodes.desired.upgrade(ctx)
	if err != nil {
		return nil, err
	}
	if err := allKnown(slices.Concat(u.policy.Nodes, u.policy.Retry), slices.Concat(s.env.NodeNames(), u.autoscaled())); err != nil {
		return nil, err
	}
	c, err := s.connect.nodes(ctx)
	if err != nil {
		return nil, err
	}
	api, known := s.connect.api(c)
	if !known && c.Refused != nil {
		return nil, accessDenied(c)
	}
	if !known {
		return nil, diag.On("cluster "+desired.Cluster, "no control plane node is there").WithHint("run talosgen apply %s first", s.env.name).WithCode(diag.Remote)
	}
	way := upgradeWay{cluster: c, infra: &s.env.Infrastructure, calls: s.connect.inventory.calls}
	var executor *upgrade.Upgrade
	executor = &upgrade.Upgrade{
		Desired: desired, Policy: u.policy, Connect: way.node, Reach: way.autoscaled, Kubernetes: upgradeAPI{api}, Programs: upgradeAPI{api},
		Servers: autoscaled{project: s.project, objects: s.objects, api: api, env: s.env.name},
		Git:     func(name string) (*nodeconfig.Config, error) { return s.env.config(ctx, nodeFile(name)) },
		Snapshot: func(ctx context.Context, from *node.Client) error {
			where, err := s.backups.save(ctx, from)
			if err == nil {
				executor.Notify("snapshot etcd", where)
			}
			return err
		},
		Drift: func(ctx context.Context) ([]string, error) { return s.nodes.drift(ctx, c) },
		Clock: c.Clock, Patience: upgradePatience(s.hurried), Keep: s.lock.held.keep, ID: id,
		RebootMode: node.RebootMode(cmp.Or(u.policy.RebootMode, s.env.Infrastructure.Reboots.Upgrade)),
	}
	return executor, nil
}

// upgradePatience is how long an upgrade waits.
func upgradePatience(hurried bool) upgrade.Patience {
	if hurried {
		return upgrade.DefaultPatience().Simulated()
	}
	return upgrade.DefaultPatience()
}
