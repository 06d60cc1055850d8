package nodes

import (
	"context"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// configSteps are the steps by which nodes get their configurations, and forget them.
type configSteps struct{ *Cluster }

// configure hands a node its configuration: to one that runs without a reboot,
// to one in maintenance mode for good.
func (n configSteps) configure(ctx context.Context, p *nodeplan.Plan, s nodeplan.Step, notify func(string)) error {
	if len(s.Changes) > 0 {
		if restarts(s) {
			if err := n.FreeToStop(ctx, s.Node, notify); err != nil {
				return err
			}
		}
		apply := func() error {
			return n.with(s.Node, func(client *node.Client) error {
				_, err := client.Apply(ctx, p.Send(s.Node), node.NoReboot)
				return err
			})
		}
		err := n.send(ctx, s, notify, apply)
		if err != nil || !restarts(s) {
			return err
		}
		return n.noticed(ctx, s.Node, notify)
	}
	m, ok := n.machine(s.Node)
	if !ok {
		return diag.On("node "+s.Node, "its address is unknown").WithCode(diag.Remote)
	}
	if err := n.install(ctx, m, p, notify); err != nil {
		return err
	}
	if err := n.serves(ctx, m, notify); err != nil {
		return err
	}
	return n.Records.Arrived(ctx, m)
}

// send applies a configuration, and waits until it has had its effect where the next node
// depends on that.
func (n configSteps) send(ctx context.Context, s nodeplan.Step, notify func(string), apply func() error) error {
	if recertified(s) {
		return n.certified(ctx, s.Node, notify, apply)
	}
	return apply()
}

// noticed waits until what restarts has begun to, and the node says so: the kubelet asks
// for its static pods every 20 seconds, and Talos asks the kubelet how they are every 15.
// Until then all is well. A restart that is over between two looks is never seen.
func (n configSteps) noticed(ctx context.Context, name string, notify func(string)) error {
	notify("waits until the kubelet has noticed the change")
	defer notify("")
	for waited := time.Duration(0); waited < n.Patience.Notice && !n.restarting(ctx, name); waited += n.Patience.Every {
		if err := n.Clock.Sleep(ctx, n.Patience.Every); err != nil {
			return execute.Interrupted(ctx)
		}
	}
	return n.keep(ctx)
}

// restarting reports whether a node says that static pods of it are not ready. One that
// does not answer says nothing.
func (n configSteps) restarting(ctx context.Context, name string) (found bool) {
	_ = n.with(name, func(client *node.Client) error {
		status, err := client.Status(ctx)
		found = err == nil && slices.ContainsFunc(status.State.Unmet, func(u node.Unmet) bool { return u.Name == node.StaticPods })
		return err
	})
	return found
}

// install configures a machine in maintenance mode that the last look has found
// to be new. What is sent goes to the machine that was asked, which is recorded
// before: from then on another one is refused.
func (n configSteps) install(ctx context.Context, m Machine, p *nodeplan.Plan, notify func(string)) error {
	admission, err := n.admit(m.Name)
	if err != nil {
		return err
	}
	key, err := n.inMaintenance(ctx, m, admission.Pin, notify)
	if err != nil || key == "" {
		return err
	}
	client, err := node.Maintenance(m.boot(), n.Through, key)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := n.Disks.identify(ctx, client, m); err != nil {
		return err
	}
	if err := n.keep(ctx); err != nil {
		return err
	}
	if err := n.Records.Sending(ctx, m, key); err != nil {
		return err
	}
	_, err = client.Apply(ctx, p.Send(m.Name), node.NoReboot)
	return err
}

// inMaintenance waits until a machine is in maintenance mode, and returns the
// fingerprint of the key that it shows; none if it has its configuration already.
// A server that was just started is awaited.
func (n configSteps) inMaintenance(ctx context.Context, m Machine, pin string, notify func(string)) (key string, err error) {
	client, err := node.Maintenance(m.boot(), n.Through, pin)
	if err != nil {
		return "", err
	}
	defer client.Close()
	patience := n.Patience.of(n.Patience.Install)
	done := false
	err = n.wait(ctx, patience, "node "+m.Name, "in maintenance mode", notify, func(ctx context.Context) error {
		status, err := client.Status(ctx)
		switch {
		case node.WantsCertificate(err):
			done = true // an earlier call had its effect
			return nil
		case err == nil && status.Stage != node.StageMaintenance:
			return node.NotYet("it is %s", status.Stage)
		}
		return err
	})
	if err != nil || done {
		return "", err
	}
	return client.Fingerprint(), nil
}

// serves waits until a node answers with a certificate of the cluster, and has
// finished with its installation: on metal it answers before, and goes away
// again. A control plane boots until there is an etcd.
func (n configSteps) serves(ctx context.Context, m Machine, notify func(string)) error {
	client, err := n.Connect(m)
	if err != nil {
		return err
	}
	patience := n.Patience.of(n.Patience.Install)
	return n.wait(ctx, patience, "node "+m.Name, "configured", notify, func(ctx context.Context) error {
		status, err := client.Status(ctx)
		if err == nil && !slices.Contains([]string{node.StageBooting, node.StageRunning}, status.Stage) {
			return node.NotYet("it is %s", status.Stage)
		}
		return err
	})
}

// stage hands a node the configuration for its next boot.
func (n configSteps) stage(ctx context.Context, p *nodeplan.Plan, s nodeplan.Step, _ func(string)) error {
	return n.with(s.Node, func(client *node.Client) error {
		_, err := client.Apply(ctx, p.Send(s.Node), node.Staged)
		return err
	})
}

// reboot reboots a node, and waits until it runs in another boot.
func (n configSteps) reboot(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, notify func(string)) error {
	return n.with(s.Node, func(client *node.Client) error {
		var before string
		err := n.guard().spared(ctx, s.Node, etcdsafety.CanStop, notify, func(ctx context.Context) (err error) {
			before, err = client.BootID(ctx)
			return err
		})
		if err != nil {
			return err
		}
		// If the answer is lost, the next look sees whether it reboots.
		if err := client.Reboot(ctx, n.RebootMode); err != nil {
			return err
		}
		patience := n.Patience.of(n.Patience.Reboot)
		return n.wait(ctx, patience, "node "+s.Node, "back after its reboot", notify, func(ctx context.Context) error {
			return client.Rebooted(ctx, before)
		})
	})
}
