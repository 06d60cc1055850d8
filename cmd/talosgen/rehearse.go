package main

import (
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/rehearsal"
	"github.com/talosgen/talosgen/apply/rehearsal/timeline"
	"github.com/talosgen/talosgen/internal/diag"
)

// Flags of rehearse.
const (
	flagSave = "save"
	flagFrom = "from"
)

// What can be rehearsed.
const (
	rehearseApply   = "apply"
	rehearseUpgrade = "upgrade"
	rehearseDestroy = rehearsal.Destroy
)

var rehearsed = []string{rehearseApply, rehearseUpgrade, rehearseDestroy}

// rehearseCommand runs a command on simulators that were made like a living cluster.
type rehearseCommand struct{ app *app }

func (r rehearseCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "rehearse",
		Usage:     "show what apply, upgrade or destroy would do to a running cluster, step by step",
		ArgsUsage: "<env> [apply|upgrade|destroy]",
		Description: `Reads the cluster as it is, makes simulators of Hetzner Cloud, Talos and Kubernetes
the same, and runs there what the command runs: the same plan, the same steps. The
report has the steps in their order, how long they take, which workloads lose pods
and for how long, gaps of the Kubernetes API and of etcd, budgets that hold up
evictions, pods that fit nowhere, the cost, and the risks that --allow takes. Nothing
is changed: whatever may write is refused before it is sent, at Hetzner Cloud, at the
nodes and at Kubernetes, and your address is not let in where it is not already.

Each part of the report says whether it was read, computed or estimated. What Talos'
installer, kernels and your programs do is not simulated. Where the command would ask
for consent, the rehearsal goes on as if you gave it.

Exits 0 if nothing suffers, 1 if there are risks, and 6 if the command would be
refused or would stop.

Examples:
   talosgen rehearse prod                  what apply would do
   talosgen rehearse prod upgrade          what upgrade would do
   talosgen rehearse prod upgrade --until first --max-parallel 2
                                           with flags of upgrade
   talosgen rehearse prod destroy
   talosgen rehearse prod --save prod.age  keep what was read, encrypted
   talosgen rehearse prod upgrade --from prod.age
                                           without the cluster
   talosgen rehearse prod -o json          the report for programs
   talosgen rehearse prod -o html > rehearsal.html
                                           a page with a timeline`,
		Flags:  rehearseFlags(),
		Action: r.run,
	}
}

// rehearseFlags are those of the commands that can be rehearsed, but for those that
// answer questions or keep files.
func rehearseFlags() (all []cli.Flag) {
	none := []string{flagYes, flagPlanOnly, flagRecoverFrom, flagMaxParallel, flagAllow, flagNode, flagAllowDirty, flagTimeline, flagOutput}
	for _, f := range sessionFlags(append(policyFlags(), upgradeFlags()...)...) {
		if !slices.Contains(none, f.Names()[0]) {
			all = append(all, f)
		}
	}
	return append(all,
		// What changes nothing may be tried before it is committed.
		&cli.BoolFlag{Name: flagAllowDirty, Value: true, Hidden: true},
		&cli.StringSliceFlag{Name: flagAllow, Usage: "consent to `WHAT` the command takes with --allow (repeatable)"},
		&cli.StringSliceFlag{Name: flagNode, Usage: "rehearse only the node `NAME` (repeatable)"},
		&cli.StringFlag{Name: flagMaxParallel, Value: "1", Usage: "`NUMBER` of workers that may be unavailable at once; for upgrade also a percentage of them"},
		&cli.StringFlag{Name: flagSave, Usage: "keep what was read of the cluster in `FILE`, encrypted with age for the operators"},
		&cli.StringFlag{Name: flagFrom, Usage: "begin with what --" + flagSave + " kept in `FILE` in place of the cluster"},
		&cli.BoolFlag{Name: flagAllowMade, Usage: "for destroy: also remove all objects that the cluster created"},
		formatFlag("report", asPage),
	)
}

func (r rehearseCommand) run(c *cli.Context) error {
	name, err := r.app.workspace().environment(c, "["+rehearseApply+"|"+rehearseUpgrade+"|"+rehearseDestroy+"]")
	if err != nil {
		return err
	}
	what := c.Args().Get(1)
	if what == "" {
		what = rehearseApply
	}
	if !slices.Contains(rehearsed, what) {
		return diag.On("", "%q cannot be rehearsed", what).WithHint("%s <env> apply, upgrade or destroy", c.Command.HelpName).WithCode(diag.Usage)
	}
	run, err := rehearsalOf(c, what)
	if err != nil {
		return err
	}
	observed, err := r.observe(c, name)
	if err != nil {
		return err
	}
	report, err := r.rehearse(c, observed, what, run)
	if err != nil {
		return err
	}
	return r.print(c, report)
}

// observe reads the cluster, by a session that cannot do anything else.
func (r rehearseCommand) observe(c *cli.Context, name string) (o *rehearsal.Observed, err error) {
	observing := r.app.clusters()
	observing.readOnly = true
	use := func(file rehearsal.File) error {
		return observing.useOf(c, name, func(s *session) (err error) {
			s.warn(s.stale)
			o, err = s.ObserveAll(c.Context, file)
			return err
		})
	}
	from, save := c.String(flagFrom), c.String(flagSave)
	switch {
	case from != "" && save != "":
		return nil, diag.On("--"+flagFrom, "not together with --%s", flagSave).WithCode(diag.Usage)
	case from != "":
		file, err := os.Open(from)
		if err != nil {
			return nil, unreadable(from, err)
		}
		defer file.Close()
		return o, use(rehearsal.File{Name: from, From: file})
	case save != "":
		_, err := keepIn(".")(save, func(to io.Writer) error { return use(rehearsal.File{Name: save, To: to}) })
		return o, err
	}
	return o, use(rehearsal.File{})
}

// print prints the report, and ends the command by its result.
func (r rehearseCommand) print(c *cli.Context, report *rehearsal.Report) error {
	show := func() error { return r.app.console.printReport(report.String()) }
	switch {
	case forPrograms(c):
		show = func() error { return r.app.console.printValue(c, report) }
	case c.String(flagOutput) == asPage:
		show = func() error { return r.app.console.printDocument(string(timeline.Write(report))) }
	}
	if err := show(); err != nil {
		return err
	}
	switch report.Result {
	case rehearsal.Clear:
		return nil
	case rehearsal.Risks:
		return errDifferences
	}
	return commandExit(diag.Conflict)
}
