//go:build linux

package node_test

import (
	"bytes"
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// lab is a cluster of real control planes, driven call by call.
type lab struct {
	t          *testing.T
	cluster    *talosenv.Cluster
	repository *talosenv.Repository
	machines   map[string]*talosenv.Node
	clients    map[string]*node.Client
}

// TestRealEtcd takes the members of a real etcd in and out, in all the ways
// that there are, and makes a new etcd of its snapshot.
func TestRealEtcd(t *testing.T) {
	l := startLab(t)
	names := []string{"cp-1", "cp-2", "cp-3"}
	began := time.Now()
	step := func(what string) { t.Logf("%4.0f s  %s", time.Since(began).Seconds(), what) }

	l.configure(names...)
	l.bootstrap("cp-1", false)
	l.voters("cp-1", names...)
	step("three members")

	l.changeSetting(names)
	database := newEtcd(t, l.config("cp-1"))
	database.put(l.address("cp-2"), "kept", "before the snapshot")
	var snapshot bytes.Buffer
	if err := l.clients["cp-2"].Snapshot(t.Context(), &snapshot); err != nil {
		t.Fatal(err)
	}
	database.put(l.address("cp-2"), "lost", "after the snapshot")
	if err := l.clients["cp-1"].Reboot(t.Context(), ""); node.Code(err) != codes.FailedPrecondition {
		t.Errorf("a container is rebooted: %v", err)
	}

	l.forfeit(names)
	step("another leader")
	l.leave("cp-3", "cp-1", "cp-2")
	step("one has left")
	l.replace("cp-3")
	l.voters("cp-1", names...)
	step("a new one has joined")
	l.removeDead("cp-2", "cp-1", "cp-3")
	step("a dead one is removed")

	for _, name := range names {
		l.stop(name)
		l.replace(name)
	}
	if err := l.clients["cp-1"].Upload(t.Context(), &snapshot); err != nil {
		t.Fatal(err)
	}
	l.bootstrap("cp-1", true)
	l.voters("cp-2", names...)
	step("recovered")
	if got := database.get(l.address("cp-3"), "kept"); got != "before the snapshot" {
		t.Errorf("after the recovery, the value is %q", got)
	}
	if got := database.get(l.address("cp-3"), "lost"); got != "" {
		t.Errorf("the value %q was made after the snapshot", got)
	}
}

func startLab(t *testing.T) *lab {
	t.Helper()
	c := talosenv.Start(t, talosenv.Options{ControlPlanes: 3})
	l := &lab{t: t, cluster: c, repository: c.NewRepository(t),
		machines: map[string]*talosenv.Node{}, clients: map[string]*node.Client{}}
	for _, n := range c.ControlPlanes {
		l.machines[n.Name] = n
	}
	return l
}

func (l *lab) address(name string) netip.Addr { return l.machines[name].Address }

func (l *lab) config(name string) secret.String {
	return secret.New(string(l.repository.MachineConfig(l.machines[name])))
}

// configure takes nodes from maintenance mode to where they wait for an etcd.
func (l *lab) configure(names ...string) {
	l.t.Helper()
	for _, name := range names {
		l.clients[name] = configure(l.t, l.machines[name], l.config(name))
	}
}

// wait makes a check until it succeeds.
func (l *lab) wait(name, what string, check func(context.Context) error) {
	l.t.Helper()
	if err := node.Wait(l.t.Context(), realClock, node.Patience{Every: time.Second, Within: 4 * time.Minute}, name, what, check); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) bootstrap(name string, recovered bool) {
	l.t.Helper()
	l.wait(name, "bootstrapped", func(ctx context.Context) error { return l.clients[name].Bootstrap(ctx, recovered) })
}

// voters waits until a node knows these members, all with a vote.
func (l *lab) voters(from string, want ...string) {
	l.t.Helper()
	l.wait(from, "one of "+strings.Join(want, ", "), func(ctx context.Context) error {
		members, err := l.clients[from].Members(ctx)
		var have []string
		for _, m := range members {
			if m.Learner {
				return node.NotYet("%s is a learner", m.Hostname)
			}
			have = append(have, m.Hostname)
		}
		slices.Sort(have)
		if err == nil && !slices.Equal(have, want) {
			return node.NotYet("the members are %s", strings.Join(have, ", "))
		}
		return err
	})
}

// changeSetting changes one in Git, and brings it to all nodes without a reboot.
func (l *lab) changeSetting(names []string) {
	l.t.Helper()
	l.repository.Change(changesFile, "machine: {sysctls: {net.core.somaxconn: '8192'}}\n")
	for _, name := range names {
		config := l.config(name)
		if _, err := l.clients[name].Apply(l.t.Context(), config, node.NoReboot); err != nil {
			l.t.Fatal(err)
		}
		if got, err := l.clients[name].Config(l.t.Context()); err != nil || got.Reveal() != config.Reveal() {
			l.t.Errorf("%s has another configuration: %v", name, err)
		}
	}
}

// forfeit makes the leader give up, and waits until there is another one.
func (l *lab) forfeit(names []string) {
	l.t.Helper()
	for _, name := range names {
		s, err := l.clients[name].EtcdStatus(l.t.Context())
		if err != nil {
			l.t.Fatal(err)
		}
		if s.Leader != s.Member {
			continue
		}
		if err := l.clients[name].TransferLeadership(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
		l.wait(name, "led by another", func(ctx context.Context) error {
			now, err := l.clients[name].EtcdStatus(ctx)
			if err == nil && (now.Leader == 0 || now.Leader == s.Leader) {
				return node.NotYet("the leader is %s", now.Leader)
			}
			return err
		})
		return
	}
	l.t.Error("there is no leader")
}

// leave takes a member out on its own node, and resets that: which is no more
// than switching it off, in a container.
func (l *lab) leave(name string, rest ...string) {
	l.t.Helper()
	if err := l.clients[name].TransferLeadership(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	if err := l.clients[name].Leave(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	l.voters(rest[0], rest...)
	if err := l.clients[name].Reset(l.t.Context(), false, false); err != nil {
		l.t.Fatal(err)
	}
	l.wait(name, "gone", func(ctx context.Context) error {
		if _, err := l.clients[name].Version(ctx); node.Code(err) != codes.Unavailable {
			return node.NotYet("it answers: %v", err)
		}
		return nil
	})
	l.stop(name)
}

// removeDead switches a node off, and takes its member out elsewhere.
func (l *lab) removeDead(name string, rest ...string) {
	l.t.Helper()
	s, err := l.clients[name].EtcdStatus(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	l.stop(name)
	for range 2 { // a second time it is gone already
		l.wait(rest[0], "rid of "+name, func(ctx context.Context) error {
			return l.clients[rest[0]].RemoveMember(ctx, s.Member)
		})
	}
	l.voters(rest[0], rest...)
}

func (l *lab) stop(name string) {
	l.t.Helper()
	if err := l.machines[name].Stop(); err != nil {
		l.t.Fatal(err)
	}
}

// replace gives a node that is gone a new machine.
func (l *lab) replace(name string) {
	l.t.Helper()
	machine, err := l.cluster.Boot(l.t.Context(), name, l.address(name))
	if err != nil {
		l.t.Fatal(err)
	}
	l.machines[name] = machine
	l.configure(name)
}
