package upgrade

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
)

// nodeState is a node, and the member of etcd that it says it has.
type nodeState struct {
	node    upgradeplan.Node
	etcd    *node.EtcdStatus
	members []node.Member
}

// observer looks at a cluster for an upgrade of it.
type observer struct{ *Upgrade }

// observe looks at all nodes of the cluster at once. Without Kubernetes there are no
// marks, and nothing can be decided.
func (u observer) observe(ctx context.Context) (upgradeplan.Observed, error) {
	seen := upgradeplan.Observed{Run: u.ID, Saved: slices.Clone(u.saved)}
	registered, err := u.Kubernetes.Registered(ctx)
	if err != nil {
		return seen, accessDenied(err)
	}
	u.noteClosed(registered)
	all := u.candidates(registered)
	u.remember(all)
	programs, err := u.staticPods(ctx)
	if err != nil {
		return seen, err
	}
	states := make([]nodeState, len(all))
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, c := range all {
		group.Go(func() { states[i], errs[i] = u.observeNode(ctx, c, programs[c.want.Name]) })
	}
	group.Wait()
	for i, s := range states {
		if errs[i] != nil {
			return seen, errs[i]
		}
		seen.Nodes = append(seen.Nodes, s.node)
	}
	seen.Members, seen.Known = members(states)
	return seen, cmp.Or(ctx.Err(), u.observePods(ctx, &seen), u.observeDrift(ctx, &seen), u.observeStale(ctx, &seen), u.observeObjects(ctx, &seen), u.observeRemoved(ctx, &seen))
}

// observeNode observes a node. One whose API does not answer is not reached, which is no
// error; one whose mark or configuration cannot be understood is.
func (u observer) observeNode(ctx context.Context, c candidate, pods map[string]kube.StaticPod) (nodeState, error) {
	s := nodeState{node: upgradeplan.Node{Name: c.want.Name, Role: c.want.Role, Pool: c.want.Pool, Autoscaled: c.autoscaled}}
	if err := s.readKube(c.registered, u.Clock.Now()); err != nil {
		return s, err
	}
	if c.distant {
		return s, nil
	}
	if n, rests := u.rests(c); rests {
		n.Up = s.node.Up
		s.node = n
		return s, nil
	}
	known := s.node
	err := u.askAll(ctx, &s, c, pods)
	if node.LostAnswer(err) && ctx.Err() == nil {
		s = nodeState{node: known}
		err = u.askAll(ctx, &s, c, pods)
	}
	if errors.Is(err, errUnreadable) {
		return s, err
	}
	s.node.Reached = err == nil
	if node.AccessDenied(err) {
		s.node.Refused, s.node.RefusedHint = messageOf(err)
	}
	u.rest(c, s.node)
	return s, nil
}

// askAll asks a node for what it and its programs are.
func (u observer) askAll(ctx context.Context, s *nodeState, c candidate, pods map[string]kube.StaticPod) error {
	client, err := u.client(c.want.Name)
	if err == nil {
		err = u.ask(ctx, s, client, c.want)
	}
	if err == nil {
		err = u.askPrograms(ctx, &s.node, client, c.want, pods)
	}
	return err
}

// messageOf is what an error says, and its hint.
func messageOf(err error) (text, hint string) {
	var p *diag.Problem
	if errors.As(err, &p) {
		return p.Message, p.Hint
	}
	return err.Error(), ""
}

// accessDenied gives an error of the Kubernetes API that does not accept the certificate of an
// administrator the exit code for that.
func accessDenied(err error) error {
	if !kube.AccessDenied(err) {
		return err
	}
	text, hint := messageOf(err)
	return diag.On("Kubernetes API", "you are not let in: %s", text).WithHint("%s", hint).WithCode(diag.Secrets).WithCause(err)
}

// readKube is what Kubernetes says of the node.
func (s *nodeState) readKube(n *kube.Node, now time.Time) (err error) {
	if n == nil {
		return nil
	}
	s.node.Talos, s.node.Kubelet, s.node.Ready, s.node.Drained = n.Talos, n.Kubelet, n.Ready, n.Drained
	s.node.Cordoned = n.Cordoned && !n.Drained
	if n.Ready {
		s.node.Up = int(now.Sub(n.Since).Seconds())
	}
	if n.Before != "" {
		if s.node.Before, err = upgradeplan.ParseBefore(n.Before); err != nil {
			return diag.On("node "+n.Name, "%v", err).WithHint("another version of talosgen wrote it: use that one, or remove the annotation talosgen.dev/upgraded-from")
		}
	}
	if n.Upgrade == "" {
		return nil
	}
	if s.node.Mark, err = upgradeplan.ParseMark(n.Upgrade); err != nil {
		return diag.On("node "+n.Name, "%v", err).WithHint("another version of talosgen wrote it: use that one, or remove the annotation when the node is healthy")
	}
	return nil
}

// ask is what the node says of itself.
func (u observer) ask(ctx context.Context, s *nodeState, c *node.Client, w upgradeplan.Want) error {
	n := &s.node
	var images []node.Image
	var f facts
	for _, read := range []func() error{
		func() (err error) { f, err = u.factsOf(ctx, c, w); return err },
		func() (err error) { images, err = u.imagesOf(ctx, c, f.boot); return err },
		func() (err error) {
			if n.Mark != nil { // else no run has called it
				n.Busy, err = c.Installing(ctx)
			}
			return err
		},
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
	f.addTo(n)
	n.Images = u.pulledAt(n.Name)
	for _, i := range images {
		n.Images = append(n.Images, i.Name)
	}
	n.Cramped = cramped(f.room, w.Installer, images)
	if n.Role == upgradeplan.ControlPlane {
		s.askEtcd(ctx, c)
	}
	return nil
}

// askEtcd is what its member of etcd says. One that says nothing is not healthy.
func (s *nodeState) askEtcd(ctx context.Context, c *node.Client) {
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
func members(states []nodeState) (all []upgradeplan.Member, known bool) {
	var list []node.Member
	var newest uint64
	for _, s := range states {
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
		for _, s := range states {
			if e := s.etcd; e != nil && e.Member == m.ID {
				member.Healthy, member.Leader, member.Version = e.Leader != 0, e.Leader == m.ID, e.Version
				member.Storage = e.Storage
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
