package apply

import (
	"context"
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/robot"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// robotStage installs Talos on dedicated servers.
type robotStage struct {
	env   *Environment
	nodes *nodeStage
	lock  *locker
	log   *runLog
	with  Builder
	// How Hetzner Robot is reached; without a login the one in the tree is taken.
	account robot.Account
	client  *robot.Client // once it is known
}

func newRobotStage(nodes *nodeStage, lock *locker, with Builder, a robot.Account) *robotStage {
	env := nodes.connect.env
	a.Version = env.version
	return &robotStage{env: env, nodes: nodes, lock: lock, log: nodes.log, with: with, account: a}
}

// plan looks at nodes and servers.
func (r *robotStage) plan(ctx context.Context, names, allow []string) (*robot.Plan, error) {
	targets, err := r.targets(ctx, names, allow)
	if err != nil {
		return nil, err
	}
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	observed := make([]robot.Observed, len(targets))
	err = r.log.stage("observe servers", 0, func(progress.Stage) error {
		for i, t := range targets {
			if observed[i], err = r.client.Observe(ctx, t.Number); err != nil {
				return err
			}
		}
		return nil
	})
	return robot.Make(r.env.name, targets, observed), err
}

// connect finds the login, and makes no request.
func (r *robotStage) connect(ctx context.Context) (err error) {
	if r.client != nil {
		return nil
	}
	a := r.account
	secrets := hetznerSecret{r.env}
	if a.User.IsZero() {
		if a.User, err = secrets.value(ctx, robotUserKey); err != nil {
			return err
		}
	}
	if a.Password.IsZero() {
		if a.Password, err = secrets.value(ctx, robotPasswordKey); err != nil {
			return err
		}
	}
	if a.User.IsZero() || a.Password.IsZero() {
		return diag.On("environment "+r.env.name, "there is no login for Hetzner Robot").
			WithHint("set ROBOT_USER and ROBOT_PASSWORD to those of the web service, or hetzner.robot in cluster.yaml").WithCode(diag.Secrets)
	}
	r.env.masker.Add(a.Password)
	r.client, err = robot.New(a)
	return err
}

// targets are nodes, as the tree and their cluster describe them.
func (r *robotStage) targets(ctx context.Context, names, allow []string) (targets []robot.Target, err error) {
	machines, err := r.machines(names)
	if err != nil {
		return nil, err
	}
	c, err := r.nodes.connect.nodes(ctx)
	if err != nil {
		return nil, err
	}
	err = r.log.stage("observe nodes", 0, func(stage progress.Stage) error {
		c.Notify = notes(stage)
		desired, observed, err := r.nodes.observe(ctx, c, nil, names...)
		if err != nil {
			return err
		}
		for _, m := range machines {
			t, err := r.target(ctx, m, desired)
			if err != nil {
				return err
			}
			s := installState{name: m.Name, observed: observed, recorded: r.recorded(c, m.Name), allowed: slices.Contains(allow, "node/"+m.Name), env: r.env.name}
			t.Waits, t.Refusal, t.Hint = s.judge()
			t.Overwrite = slices.Contains(allow, robot.ConsentDisk+m.Name)
			targets = append(targets, t)
		}
		return nil
	})
	return targets, err
}

// machines are those of some nodes that have a server at Robot.
func (r *robotStage) machines(names []string) (machines []schemas.InfraMachine, err error) {
	var problems diag.List
	for _, name := range names {
		i := slices.IndexFunc(r.env.Infrastructure.Machines, func(m schemas.InfraMachine) bool { return m.Name == name })
		switch {
		case i < 0:
			problems.Add(diag.On("node "+name, "rendered/%s has no such machine", r.env.name).
				WithHint("%s", diag.Suggest(name, r.env.NodeNames())).WithCode(diag.Usage))
		case r.env.Infrastructure.Machines[i].RobotServer == 0:
			problems.Add(diag.On("node "+name, "cluster.yaml does not say which server at Hetzner Robot it is").
				WithHint("give its number as robotServer, and render").WithCode(diag.Usage))
		default:
			machines = append(machines, r.env.Infrastructure.Machines[i])
		}
	}
	return machines, problems.Err()
}

// target is what the tree says of a node.
func (r *robotStage) target(ctx context.Context, m schemas.InfraMachine, desired nodeplan.Desired) (t robot.Target, err error) {
	t = robot.Target{Node: m.Name, Number: m.RobotServer}
	for _, a := range []string{m.BootAddress, m.Address} {
		if a != "" && !slices.Contains(t.Addresses, a) {
			t.Addresses = append(t.Addresses, a)
		}
	}
	for _, want := range desired.Nodes {
		if want.Name == m.Name && want.Config != nil {
			if t.Image, err = robot.ImageOf(want.Config.Installer()); err != nil {
				return t, err
			}
		}
	}
	t.Disk, err = treeDisks{env: r.env}.of(ctx, m.Name)
	if err == nil && t.Disk == nil {
		err = diag.On("node "+m.Name, "its configuration does not say which disk Talos is installed on").WithHint("give installDisk in cluster.yaml").WithCode(diag.Usage)
	}
	return t, err
}

// recorded reports whether it is recorded that a node was configured.
func (r *robotStage) recorded(c *nodes.Cluster, name string) bool {
	i := slices.IndexFunc(c.Machines, func(m nodes.Machine) bool { return m.Name == name })
	if i < 0 {
		return false
	}
	state := r.nodes.connect.records.Of(c.Machines[i]).State
	return state != newonce.Blank && state != newonce.Unrecorded
}

// execute looks again, and installs.
func (r *robotStage) execute(ctx context.Context, agreed *robot.Plan, allow []string) error {
	var names []string
	for _, e := range agreed.Todo() {
		names = append(names, e.Node)
	}
	now, err := r.plan(ctx, names, allow)
	if err != nil {
		return err
	}
	if err := refused(now.Refusals); err != nil {
		return err
	}
	installer := &robot.Installer{
		Client: r.client, Dial: r.with.Dial, Clock: r.log.clock, Random: r.with.Random, Mirrors: r.with.Mirrors,
		Keep: r.lock.held.keep, Forget: r.forget, Await: r.await,
	}
	return r.log.stage("install", len(now.Todo()), func(stage progress.Stage) error {
		for _, e := range now.Todo() {
			step := fmt.Sprintf("server %d (%s)", e.Number, e.Node)
			stage.Step(step, progress.Begun, "")
			if err := installer.Install(ctx, e, func(text string) { stage.Step(step, progress.Note, text) }); err != nil {
				stage.Step(step, progress.Failure(err), err.Error())
				return err
			}
			stage.Step(step, progress.Done, "")
		}
		return nil
	})
}

// forget takes back that a node was configured.
func (r *robotStage) forget(ctx context.Context, name string) error {
	c, err := r.nodes.connect.nodes(ctx)
	if err != nil || !r.recorded(c, name) {
		return err
	}
	i := slices.IndexFunc(c.Machines, func(m nodes.Machine) bool { return m.Name == name })
	return r.nodes.connect.records.Forgotten(ctx, c.Machines[i])
}

// await waits until a node asks for its configuration.
func (r *robotStage) await(ctx context.Context, name string) error {
	c, err := r.nodes.connect.nodes(ctx)
	if err != nil {
		return err
	}
	states, err := c.Settled(ctx, []string{name})
	if err != nil {
		return err
	}
	for _, s := range states {
		if s.Machine.Name == name && !s.Reach.Bare() {
			return diag.On("node "+name, "Talos was written to its disk, and does not wait for its configuration: it is %s: %s", s.Reach, s.Reason).WithCode(diag.NotReady)
		}
	}
	return nil
}

// installState is what is known of a node that Talos is to be installed on.
type installState struct {
	name, env string
	observed  nodeplan.Observed
	recorded  bool // it was configured
	allowed   bool // by name
}

// judge says whether the node waits for its configuration, and why nothing may be
// installed on it, with what to do; empty: it may.
func (s installState) judge() (waits bool, refusal, hint string) {
	i := slices.IndexFunc(s.observed.Nodes, func(n nodeplan.Node) bool { return n.Name == s.name })
	n := nodeplan.Node{Reach: nodeplan.Unreachable}
	if i >= 0 {
		n = s.observed.Nodes[i]
	}
	member := slices.ContainsFunc(s.observed.Members, func(m nodeplan.Member) bool { return m.Node == s.name })
	asked := s.observed.Known && len(s.observed.Members) > 0
	switch {
	case n.Reach == nodeplan.Configured:
		return false, "it is a node of the cluster: it answers with its certificate", fmt.Sprintf("`talosgen replace %s %s` removes it and lets it join again", s.env, s.name)
	case n.Registered:
		return false, "Kubernetes knows it as a node", "if its machine is gone for good: kubectl delete node " + s.name
	case member:
		return false, "etcd has it as a member", fmt.Sprintf("`talosgen replace %s %s` removes it", s.env, s.name)
	case s.observed.Silent != "":
		return false, "whether Kubernetes knows it as a node is not known: " + s.observed.Silent, "run the same command again when Kubernetes answers"
	case n.Reach == nodeplan.Maintenance:
		return true, "", ""
	case s.recorded && !asked && !s.allowed:
		return false, "it was configured before, and no control plane node says whether it is still a node", "if it is none any more: --allow node/" + s.name
	}
	return false, "", ""
}
