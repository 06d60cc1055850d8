package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/internal/diag"
)

// watchCommand watches over a cluster, and heals what is marked safe.
type watchCommand struct{ clusters clusters }

func (w watchCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "watch",
		Usage:     "look at a cluster again and again: heal drift, and replace dead workers",
		ArgsUsage: "<env>",
		Description: `Each turn reads rendered/<env> again, plans as apply does, without any consent, and
heals what --heal names:

 - drift: changes of the infrastructure that disturb and destroy nothing, as
   of firewall rules, labels, targets of load balancers, power of servers;
 - workers: a worker that has been dead in every look for --dead-after is
   drained as far as that goes, deleted, created again and joined, as by
   replace. It is dead if its server is gone or off, or its Talos does not
   answer, and Kubernetes does not say that it is ready.

Everything else is told, and left to apply. A control plane node is never replaced. No
worker is replaced while a control plane node is away, several workers are away at once,
a rotation or an upgrade is under way, or it came back from being dead within the last
hour; nor more than --max-replacements says. Nothing is done if the tree is not
committed, sources are newer than it, or apply would refuse. A turn takes the lock of
apply, and waits for the next one if another run has it. SIGTERM and Ctrl-C end it
when the lock is given back.

It needs what apply needs: a key that decrypts the tree, and a token that may write;
with --dry-run --keyless no key, and a token that only reads.

--once ends after a turn, or as soon as it is decided about each worker that is found
dead. It exits 0 if nothing is left to tell, 1 if there is, 6 if another run was at work.

Examples:
   talosgen watch prod
   talosgen watch prod --heal drift --interval 5m
   talosgen watch prod --dry-run -o json     a line for each turn
   talosgen watch prod --once                from a scheduled pipeline
   talosgen watch prod --metrics 0.0.0.0:9090
                                             for Prometheus, in a pod`,
		Flags:  sessionFlags(append(nodeFlags(), watchFlags()...)...),
		Action: w.run,
	}
}

func (w watchCommand) run(c *cli.Context) error {
	env, err := w.clusters.ws.environment(c)
	if err != nil {
		return err
	}
	policy, err := watchPolicy(c)
	if err != nil {
		return err
	}
	l := &watchLoop{
		c: c, clusters: w.clusters, env: env, policy: policy, watcher: &apply.Watcher{Policy: policy}, metrics: newWatchMetrics(env, policy, w.clusters.clock.now()),
		only: c.Bool(flagDryRun), once: c.Bool(flagOnce),
	}
	if address := c.String(flagMetrics); address != "" && !l.once {
		served, stop, err := l.metrics.serve(c.Context, address, w.clusters.clock)
		if err != nil {
			return err
		}
		defer stop()
		w.clusters.out.say("metrics: http://%s/metrics", served)
	}
	return l.run()
}

// watchEnds is the error that ends a watch that looks once.
func watchEnds(t watch.Tick, failed error) error {
	switch t.Result {
	case watch.InSync, watch.Healed:
		return nil
	case watch.Would, watch.Watches:
		return errDifferences
	case watch.Locked:
		return commandExit(diag.Conflict)
	}
	return failed
}
