package upgrade

import (
	"context"
	"slices"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
)

// sight is a node, and the member of etcd that it says it has.
type sight struct {
	node    upgradeplan.Node
	etcd    *node.EtcdStatus
	members []node.Member
}

// observe looks at all nodes of the tree at once. Without Kubernetes there are no
// marks, and nothing can be decided.
func (u *Upgrade) observe(ctx context.Context) (upgradeplan.Observed, error) {
	registered, err := u.Kubernetes.Registered(ctx)
	if err != nil {
		return upgradeplan.Observed{}, err
	}
	sights := make([]sight, len(u.Desired.Nodes))
	errs := make([]error, len(sights))
	var group sync.WaitGroup
	for i, w := range u.Desired.Nodes {
		group.Go(func() { sights[i], errs[i] = u.look(ctx, w, registered) })
	}
	group.Wait()
	seen := upgradeplan.Observed{Run: u.ID, Saved: slices.Clone(u.saved)}
	for i, s := range sights {
		if errs[i] != nil {
			return seen, errs[i]
		}
		seen.Nodes = append(seen.Nodes, s.node)
	}
	seen.Members, seen.Known = members(sights)
	return seen, ctx.Err()
}

// look observes a node. One whose API does not answer is not reached, which is no
// error; one whose mark cannot be read is.
func (u *Upgrade) look(ctx context.Context, w upgradeplan.Want, registered []kube.Node) (sight, error) {
	s := sight{node: upgradeplan.Node{Name: w.Name, Role: w.Role, Pool: w.Pool}}
	if i := slices.IndexFunc(registered, func(n kube.Node) bool { return n.Name == w.Name }); i >= 0 {
		n := registered[i]
		s.node.Talos, s.node.Kubelet, s.node.Ready, s.node.Drained = n.Talos, n.Kubelet, n.Ready, n.Drained
		s.node.Cordoned = n.Cordoned && !n.Drained
		if n.Ready {
			s.node.Up = int(u.Clock.Now().Sub(n.Since).Seconds())
		}
		if n.Upgrade != "" {
			mark, err := upgradeplan.ParseMark(n.Upgrade)
			if err != nil {
				return s, diag.On("node "+w.Name, "%v", err).WithHint("another version of talosgen wrote it: use that one, or remove the annotation when the node is well")
			}
			s.node.Mark = mark
		}
	}
	client, err := u.Connect(w.Name)
	if err == nil {
		err = s.ask(ctx, client)
	}
	s.node.Reached = err == nil
	return s, nil
}

// ask is what the node says of itself.
func (s *sight) ask(ctx context.Context, c *node.Client) error {
	n := &s.node
	for _, read := range []func() error{
		func() (err error) { n.Talos, err = c.Version(ctx); return err },
		func() (err error) { n.Platform, err = c.Platform(ctx); return err },
		func() (err error) { n.Boot, err = c.BootID(ctx); return err },
		func() (err error) { n.Extensions, n.Schematic, err = c.Extensions(ctx); return err },
		func() (err error) { n.Images, err = c.Images(ctx); return err },
		func() (err error) { n.Busy, err = c.Installing(ctx); return err },
		func() error {
			status, err := c.Status(ctx)
			n.Stage = status.Stage
			return err
		},
	} {
		if err := read(); err != nil {
			return err
		}
	}
	if n.Role == upgradeplan.ControlPlane {
		s.askEtcd(ctx, c)
	}
	return nil
}

// askEtcd is what its member of etcd says. One that says nothing is not healthy.
func (s *sight) askEtcd(ctx context.Context, c *node.Client) {
	if status, err := c.EtcdStatus(ctx); err == nil {
		s.etcd = &status
	}
	if members, err := c.Members(ctx); err == nil {
		s.members = members
	}
}

// behind is by how many entries of its log a member may be behind.
const behind = 1000

// members are those of etcd, as the first one lists them that answers. All that answer
// list the same, or nothing is known.
func members(sights []sight) (all []upgradeplan.Member, known bool) {
	var list []node.Member
	var newest uint64
	for _, s := range sights {
		if s.etcd != nil {
			newest = max(newest, s.etcd.RaftIndex)
		}
		switch {
		case s.members == nil:
		case list == nil:
			list = s.members
		case !slices.EqualFunc(list, s.members, func(a, b node.Member) bool { return a.ID == b.ID && a.Learner == b.Learner }):
			return nil, false
		}
	}
	for _, m := range list {
		member := upgradeplan.Member{Node: m.Hostname, Learner: m.Learner}
		for _, s := range sights {
			if e := s.etcd; e != nil && e.Member == m.ID {
				member.Healthy, member.Leader, member.Version = e.Leader != 0, e.Leader == m.ID, e.Version
				member.Lagging = newest > e.Applied+behind
				if len(e.Errors) > 0 {
					member.Alarm = e.Errors[0]
				}
			}
		}
		all = append(all, member)
	}
	return all, list != nil
}
