package apply

import (
	"context"
	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/progress"
	"slices"
	"time"
)

// AtCluster looks where the control planes are, and does something with their
// Kubernetes API, which is reached as apply reaches it: from here, or through the
// server that the tree names. The URL of an API, unless it is empty, is used in
// their place.
func (s *Session) AtCluster(ctx context.Context, server string, do func(*Cluster) error) error {
	if server != "" {
		c, err := s.env.Kubernetes(ctx, KubeAccess{
			Server: server, Examples: s.examples, Dial: s.connect.reach.dial, Clock: s.log.clock, Random: s.connect.signer.random, Notify: s.log.notify,
		})
		if err != nil {
			return err
		}
		defer c.Close()
		c.lock = s.lock
		return do(c)
	}
	found, err := s.connect.nodes(ctx)
	if err != nil {
		return err
	}
	api, _ := s.connect.api(found)
	if !slices.ContainsFunc(api.machines, func(m nodes.Machine) bool { return m.Address != "" }) {
		return noControlPlane(found, s.env.name)
	}
	client, err := api.clientWith(ctx, clusterPatience)
	if err != nil {
		return err
	}
	defer client.Close()
	desired, err := s.objects.desired(ctx)
	if err != nil {
		return err
	}
	return do(&Cluster{env: s.env, client: client, desired: desired, clock: s.log.clock, notify: s.log.notify, lock: s.lock, nodes: found})
}

// Etcd asks every control plane for its member of etcd, and says besides whether
// etcd is well: a quorum without one of its members is not.
func (s *Session) Etcd(ctx context.Context) (list *health.MemberList, well bool, err error) {
	c, err := s.connect.nodes(ctx)
	if err != nil {
		return nil, false, err
	}
	err = s.log.stage("etcd", 0, func(progress.Stage) error {
		f := facts(ctx, c, controlPlaneMachines(c), func(context.Context) ([]health.KubeNode, error) { return nil, nil })
		l := health.ListMembers(f)
		list = &l
		well = l.Complete() && !slices.ContainsFunc(health.Check(f).Failures(), health.Result.AboutEtcd)
		return ctx.Err()
	})
	return list, well, err
}

// SaveEtcd keeps a snapshot of etcd: all that Kubernetes has. It is encrypted for
// the operators as it comes, and never anywhere in the clear.
func (s *Session) SaveEtcd(ctx context.Context, keep Keep) (saved *EtcdSnapshot, err error) {
	c, err := s.connect.nodes(ctx)
	if err != nil {
		return nil, err
	}
	err = s.log.stage("snapshot", 0, func(progress.Stage) error {
		return c.AskEtcd(ctx, func(client *node.Client) (err error) {
			saved, err = s.backups.keep(ctx, client, keep)
			return err
		})
	})
	return saved, err
}

// Health looks at the nodes, etcd and Kubernetes, and says whether the cluster is
// well. If it is not it looks again, as long as it may; then there is an error
// with the exit code [diag.NotReady] besides the last report.
func (s *Session) Health(ctx context.Context, within time.Duration) (report *health.Report, err error) {
	c, err := s.connect.nodes(ctx)
	if err != nil {
		return nil, err
	}
	err = s.log.stage("health", 0, func(stage progress.Stage) error {
		if within == 0 {
			r := checked(ctx, c)
			report = &r
			return ctx.Err()
		}
		return node.WaitFor(ctx, s.log.clock, node.Patience{Every: pollEvery, Most: slowPoll, Within: within}, "cluster", "well", func(ctx context.Context) error {
			r := checked(ctx, c)
			report = &r
			if failures := r.Failures(); len(failures) > 0 {
				stage.Step("wait", progress.Note, failures[0].String())
				return node.NotYet("%s", failures[0])
			}
			return nil
		})
	})
	return report, err
}
