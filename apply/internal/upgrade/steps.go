package upgrade

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
)

// stepper takes the steps of an upgrade.
type stepper struct{ *Upgrade }

// do takes one step.
func (u stepper) do(ctx context.Context, s upgradeplan.Step) error {
	if err := u.Keep(ctx); err != nil {
		return err
	}
	defer u.wake(s.Node)
	switch s.Action {
	case upgradeplan.Snapshot:
		return u.snapshot(ctx, s)
	case upgradeplan.Drain:
		return u.drain(ctx, s)
	case upgradeplan.Uncordon:
		return u.uncordon(ctx, s.Node)
	case upgradeplan.Confirm, upgradeplan.Forget:
		if s.Before != nil {
			if err := u.Kubernetes.Before(ctx, s.Node, s.Before.String()); err != nil {
				return err
			}
		}
		if slices.Contains(u.controlPlanes(), s.Node) {
			u.objects = ""
		}
		return u.Kubernetes.Mark(ctx, s.Node, "")
	case upgradeplan.Manifests:
		return u.manifests(ctx, s)
	case upgradeplan.Delete:
		return u.delete(ctx, s)
	}
	client, err := u.client(s.Node)
	if err != nil {
		return err
	}
	switch s.Action {
	case upgradeplan.Pull:
		return u.pull(ctx, client, s)
	case upgradeplan.Install:
		return u.install(ctx, client, s)
	case upgradeplan.Transfer:
		return u.transfer(ctx, client)
	case upgradeplan.Rollback:
		return u.rollback(ctx, client, s)
	case upgradeplan.Boot:
		return u.boot(ctx, client)
	case upgradeplan.Configure:
		return u.configure(ctx, client, s)
	case upgradeplan.Contract:
		return u.contract(ctx, client, s)
	}
	return diag.On("node "+s.Node, "there is no way to do %s", s.Action).WithCode(diag.Remote)
}

func (u stepper) notify(s upgradeplan.Step, text string) { u.Notify(Name(s), text) }

// snapshot saves etcd by the first member that answers.
func (u stepper) snapshot(ctx context.Context, s upgradeplan.Step) (err error) {
	for _, plane := range u.controlPlanes() {
		var client *node.Client
		if client, err = u.client(plane); err != nil {
			continue
		}
		if err = u.Snapshot(ctx, client); err == nil {
			u.saved = append(u.saved, s.Hop)
			return nil
		}
	}
	return err
}

// drain drains a node. One that cannot be drained gets its pods again.
func (u stepper) drain(ctx context.Context, s upgradeplan.Step) error {
	err := u.cordon(ctx, s.Node, s.Over(), func(text string) { u.notify(s, text) })
	if err == nil || ctx.Err() != nil {
		return err
	}
	return errors.Join(err, u.uncordon(ctx, s.Node))
}

// pull gets an image. All nodes get the same one: a name may mean another image a
// moment later, or at another registry.
func (u stepper) pull(ctx context.Context, c *node.Client, s upgradeplan.Step) error {
	var digest string
	err := u.keeping(ctx, func(ctx context.Context) (err error) {
		if ofPods(s.Component) {
			digest, err = c.PullForPods(ctx, s.Image)
		} else {
			digest, err = c.Pull(ctx, s.Image)
		}
		return err
	})
	if err == nil && s.Component != "" {
		u.notePulled(s.Node, s.Image)
	}
	if err != nil || digest == s.Image {
		return err // an older node does not tell
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.digests == nil {
		u.digests = map[string]string{}
	}
	if first := u.digests[s.Image]; first != "" && first != digest {
		return diag.On("node "+s.Node, "its registry has another image for %s: %s, and other nodes have %s", s.Image, digest, first).
			WithHint("nodes of one cluster must not differ: see the mirrors of registries in machine configurations").WithCode(diag.Conflict)
	}
	u.digests[s.Image] = digest
	return nil
}

// ofPods reports whether the kubelet runs a program.
func ofPods(component string) bool { return component != "" && component != upgradeplan.Kubelet }

// install marks the node, and runs the installer. Of an answer that is lost nothing is
// known: the next observation finds the mark.
func (u stepper) install(ctx context.Context, c *node.Client, s upgradeplan.Step) error {
	mark, err := u.mark(ctx, c, s, upgradeplan.Installing)
	if err != nil {
		return err
	}
	if s.Legacy {
		return u.installOlder(ctx, c, s, mark)
	}
	var code int32
	err = u.keeping(ctx, func(ctx context.Context) (err error) {
		code, err = c.Install(ctx, s.Image, func(text string) { u.notify(s, text) })
		return err
	})
	if err != nil {
		return err
	}
	if mark.Phase = upgradeplan.Installed; code != 0 {
		mark.Phase = upgradeplan.Failed
		u.notify(s, "the installer failed: "+exits(code))
	}
	return u.Kubernetes.Mark(ctx, s.Node, mark.String())
}

// mark is how a step begins that changes what the node boots: pods leave it, if they did
// not yet, and it is noted at the node what begins, and in which boot.
func (u stepper) mark(ctx context.Context, c *node.Client, s upgradeplan.Step, phase upgradeplan.MarkPhase) (m upgradeplan.Mark, err error) {
	if s.Evict {
		if err := u.drain(ctx, s); err != nil {
			return m, err
		}
	}
	boot, err := c.BootID(ctx)
	if err != nil {
		return m, err
	}
	if s.Before != nil {
		if err := u.Kubernetes.Before(ctx, s.Node, s.Before.String()); err != nil {
			return m, err
		}
	}
	m = upgradeplan.Mark{Phase: phase, Version: s.Version, Schematic: s.Schematic, Boot: boot, Run: u.ID, Try: s.Try}
	return m, u.Kubernetes.Mark(ctx, s.Node, m.String())
}

// exits says what an exit code of the installer means, since Talos 1.14.
func exits(code int32) string {
	texts := map[int32]string{2: "its input is wrong", 3: "the machine is not supported", 4: "its checks before the installation failed",
		5: "something that it needs is missing", 6: "it could not write", 7: "the installation failed"}
	if text := texts[code]; text != "" {
		return text
	}
	return "see the log of the node"
}

// installOlder is the call of before Talos 1.13. The node reboots by itself, or runs on
// in the same boot if it has given up.
func (u stepper) installOlder(ctx context.Context, c *node.Client, s upgradeplan.Step, mark upgradeplan.Mark) error {
	if err := c.Upgrade(ctx, s.Image, u.RebootMode); refused(err) {
		return errors.Join(err, u.Kubernetes.Mark(ctx, s.Node, "")) // nothing has begun
	} else if err != nil {
		return err
	}
	left := false
	err := u.wait(ctx, s.Node, "another boot", func(ctx context.Context) error {
		id, err := c.BootID(ctx)
		if err != nil || id != mark.Boot {
			return err
		}
		status, err := c.Status(ctx)
		if left = left || err == nil && status.Stage != node.StageRunning; left && err == nil && status.Stage == node.StageRunning {
			mark.Phase = upgradeplan.Failed
			return nil
		}
		return node.NotYet("it has not gone down yet")
	})
	if err != nil || mark.Phase != upgradeplan.Failed {
		return err
	}
	return u.Kubernetes.Mark(ctx, s.Node, mark.String())
}

// refused reports whether a node has answered with an error, and the answer was not lost
// on its way: a call that only begins something has not begun it then.
func refused(err error) bool {
	lost := []codes.Code{codes.OK, codes.Canceled, codes.DeadlineExceeded, codes.Unavailable}
	return err != nil && !node.LostAnswer(err) && !slices.Contains(lost, node.Code(err))
}

// transfer lets another member lead etcd, and waits until one does.
func (u stepper) transfer(ctx context.Context, c *node.Client) error {
	if err := c.TransferLeadership(ctx); err != nil {
		return err
	}
	return u.wait(ctx, c.Target().Name, "led by another member of etcd", func(ctx context.Context) error {
		status, err := c.EtcdStatus(ctx)
		if err == nil && (status.Leader == 0 || status.Leader == status.Member) {
			return node.NotYet("no other member leads")
		}
		return err
	})
}

// boot reboots, and waits until another boot answers.
func (u stepper) boot(ctx context.Context, c *node.Client) error {
	before, err := c.BootID(ctx)
	if err != nil {
		return err
	}
	if err := c.Reboot(ctx, u.RebootMode); err != nil {
		return err
	}
	return u.another(ctx, c, before)
}

// wait makes a check of a node until it succeeds, and keeps the lock meanwhile.
func (u stepper) wait(ctx context.Context, name, what string, check func(context.Context) error) error {
	return u.waitFor(ctx, "node "+name, what, u.Patience.Reboot, check)
}

// waitFor is [stepper.wait] for anything.
func (u stepper) waitFor(ctx context.Context, object, what string, within time.Duration, check func(context.Context) error) error {
	var ended error
	err := node.WaitFor(ctx, u.Clock, node.Patience{Every: u.Patience.Every, Within: within}, object, what, func(ctx context.Context) error {
		if ended = u.Keep(ctx); ended != nil {
			return nil
		}
		return check(ctx)
	})
	return errors.Join(err, ended)
}
