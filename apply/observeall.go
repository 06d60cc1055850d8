package apply

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/rehearsal"
	"github.com/talosgen/talosgen/internal/diag"
)

// ObserveAll reads a cluster as it is, for a rehearsal of what is to be done to it. The
// session must be one that only reads; see [Cloud]. What cannot be read is named in
// what is returned; an error means that nothing can be rehearsed. With a file, that is
// read in the place of the cluster, or what was read is kept there.
func (s *Session) ObserveAll(ctx context.Context, file rehearsal.File) (*rehearsal.Observed, error) {
	if !s.connect.inventory.readOnly {
		return nil, diag.On("environment "+s.env.name, "a session that may change something does not observe for a rehearsal")
	}
	keeps := observedFile{s.env, file}
	if file.From != nil {
		return keeps.read(ctx)
	}
	o := &rehearsal.Observed{Environment: s.env.name, Cluster: s.env.Infrastructure.Cluster, At: s.connect.clock.Now()}
	all := &allObserver{Session: s, found: o}
	for _, part := range []struct {
		stage string
		read  func(context.Context) error
	}{{"observe", all.project}, {"observe nodes", all.nodes}, {"observe Kubernetes", all.objects}} {
		if err := s.log.stage(part.stage, 0, func(progress.Stage) error { return part.read(ctx) }); err != nil {
			return nil, err
		}
	}
	return o, keeps.write(o)
}

// allObserver reads the parts of a cluster one after the other.
type allObserver struct {
	*Session

	found   *rehearsal.Observed
	seen    cloudplan.Observed
	cluster *nodes.Cluster
}

// project reads everything at Hetzner Cloud.
func (l *allObserver) project(ctx context.Context) (err error) {
	if l.Session.project == nil {
		return nil
	}
	if l.found.Hetzner, err = l.Session.project.Everything(ctx); err != nil {
		return err
	}
	if jump := l.env.Infrastructure.Access.Jump; jump != "" {
		if l.found.HostKey, err = l.env.hostKey(jump); err != nil {
			return err
		}
	}
	l.seen, err = l.Session.project.Observe(ctx, l.env.Infrastructure)
	return err
}

// nodes reads every node that is there.
func (l *allObserver) nodes(ctx context.Context) (err error) {
	if l.connect.reach.dial == nil {
		l.unseen("nodes and Kubernetes: behind the servers of this simulated project there are none")
		return nil
	}
	if l.cluster, err = l.connect.at(ctx, l.seen, nil); err != nil {
		return err
	}
	l.cluster.Machines = append(l.cluster.Machines, l.connect.inventory.autoscaled(l.seen)...)
	states, err := l.cluster.Observe(ctx)
	if err != nil {
		return err
	}
	l.found.Nodes = make([]rehearsal.Node, len(states))
	var all sync.WaitGroup
	for i, state := range states {
		all.Go(func() { l.found.Nodes[i] = l.node(ctx, state) })
	}
	all.Wait()
	for i, state := range states {
		l.members(state)
		if n := l.found.Nodes[i]; n.Reach == string(nodeplan.Unreachable) && state.Machine.Address != "" {
			l.unseen("node %s: %s", n.Name, n.Reason)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.reached(states)
}

// reached is the error that no node is reached although there are some: nothing of what
// happens to them could be told.
func (l *allObserver) reached(states []nodes.NodeState) error {
	there := slices.DeleteFunc(slices.Clone(states), func(s nodes.NodeState) bool { return s.Machine.Address == "" })
	if len(there) == 0 || slices.ContainsFunc(there, func(s nodes.NodeState) bool { return s.Reach != nodeplan.Unreachable }) {
		return nil
	}
	p := diag.On("nodes of the cluster "+l.found.Cluster, "none is reached: %s", there[0].Reason).WithCode(diag.Remote)
	if l.connect.reach.open.closed() {
		return p.WithHint("a rehearsal does not open access: `talosgen access open %s` lets your address in for a while", l.env.name)
	}
	return p.WithHint("`talosgen health %s` shows what is wrong", l.env.name)
}

// node reads what of a node decides what happens to it. One that does not tell all of
// it is not reached.
func (l *allObserver) node(ctx context.Context, state nodes.NodeState) rehearsal.Node {
	m := state.Machine
	n := rehearsal.Node{Name: m.Name, Role: m.Role, Reach: string(state.Reach), Reason: state.Reason, Stage: state.Stage, UUID: m.Match.UUID, Serial: m.Match.Serial}
	if m.Match.MAC != "" {
		n.MACs = []string{m.Match.MAC}
	}
	if state.Reach != nodeplan.Configured {
		return n
	}
	n.Member = uint64(state.Etcd.Self)
	client, err := l.cluster.Connect(m)
	if err == nil {
		err = readNode(ctx, client, &n)
	}
	if err != nil {
		n.Reach, n.Reason = string(nodeplan.Unreachable), oneLine(err)
	}
	return n
}

// readNode asks a node.
func readNode(ctx context.Context, client *node.Client, n *rehearsal.Node) (err error) {
	if n.Config, err = client.Config(ctx); err != nil {
		return err
	}
	if n.Talos, err = client.Version(ctx); err != nil {
		return err
	}
	if n.Boot, err = client.BootID(ctx); err != nil {
		return err
	}
	images, err := client.Images(ctx)
	if err != nil {
		return err
	}
	for _, i := range images {
		n.Images = append(n.Images, i.Name)
	}
	if n.Platform, err = client.Platform(ctx); err != nil {
		return err
	}
	if n.Extensions, n.Schematic, err = client.Extensions(ctx); err != nil {
		return err
	}
	if n.SecureBoot, err = client.SecureBoot(ctx); err != nil {
		return err
	}
	size, err := client.BootSize(ctx)
	if err != nil {
		return err
	}
	n.BootSize = int64(size)
	hardware, err := client.Hardware(ctx)
	if err != nil {
		return err
	}
	n.UUID, n.Serial, n.MACs = hardware.UUID, hardware.Serial, hardware.MACs
	for _, d := range hardware.Disks {
		n.Disks = append(n.Disks, rehearsal.Disk{Path: d.DevPath, Model: d.Model, Serial: d.Serial, WWID: d.WWID, Symlinks: d.Symlinks, Size: d.Size})
	}
	return nil
}

// members takes in what a control plane knows of etcd, in its order: in simulators, it
// decides on elections.
func (l *allObserver) members(state nodes.NodeState) {
	if leader := uint64(state.Etcd.Leader); leader != 0 {
		l.found.Leader = leader
	}
	for _, m := range state.Etcd.Members {
		if !slices.ContainsFunc(l.found.Etcd, func(have rehearsal.Member) bool { return have.ID == uint64(m.ID) }) {
			peer := ""
			if len(m.PeerURLs) > 0 {
				peer = m.PeerURLs[0]
			}
			l.found.Etcd = append(l.found.Etcd, rehearsal.Member{ID: uint64(m.ID), Name: m.Hostname, Peer: peer, Learner: m.Learner})
		}
	}
}

// objects reads everything that Kubernetes has. Without an etcd there is nothing.
func (l *allObserver) objects(ctx context.Context) error {
	if l.cluster == nil || len(l.found.Etcd) == 0 {
		return nil
	}
	api, known := l.connect.api(l.cluster)
	if !known || !l.connect.kube.serves() {
		l.unseen("Kubernetes: there is no way to it")
		return nil
	}
	err := api.do(ctx, func(c *kube.Client) (err error) {
		if l.found.Kubernetes, err = c.Version(ctx); err != nil {
			return err
		}
		var unseen []string
		l.found.Objects, unseen, err = kube.Everything(ctx, c)
		l.found.Unseen = append(l.found.Unseen, unseen...)
		if err != nil {
			return err
		}
		return notedSystems(ctx, c, l.found.Nodes)
	})
	return err
}

// unseen notes what was not looked at.
func (l *allObserver) unseen(format string, args ...any) {
	l.found.Unseen = append(l.found.Unseen, fmt.Sprintf(format, args...))
}
