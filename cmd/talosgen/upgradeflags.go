package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
)

// Flags of upgrade.
const (
	flagPlanOnly   = "plan"
	flagTalos      = "talos"
	flagKubernetes = "kubernetes"
	flagUntil      = "until"
	flagSoak       = "soak"
	flagRetry      = "retry"
	flagRollback   = "rollback"
	flagAutoscaled = "autoscaled"
	flagRebootMode = "reboot-mode"
)

// Values of flags of upgrade.
var (
	untilValues      = []string{"first", "control-planes"}
	autoscaledValues = []string{"in-place", "recycle", "leave"}
	rebootModes      = []string{"default", "powercycle"}
)

func upgradeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: flagPlanOnly, Usage: "show the plan and change nothing; exits 1 if there is something to do"},
		&cli.BoolFlag{Name: flagYes, Usage: "do not ask for approval"},
		&cli.BoolFlag{Name: flagTalos, Usage: "upgrade only Talos"},
		&cli.BoolFlag{Name: flagKubernetes, Usage: "upgrade only Kubernetes"},
		&cli.StringSliceFlag{Name: flagAllow, Usage: "consent to the risk `ID` of the plan (repeatable)"},
		&cli.StringSliceFlag{Name: flagNode, Usage: "upgrade only the node `NAME` (repeatable)"},
		&cli.StringFlag{Name: flagUntil, Usage: "stop `AFTER` first (one control plane node) or control-planes, at the first hop"},
		&cli.StringFlag{Name: flagMaxParallel, Value: "1", Usage: "`NUMBER` of workers that may be unavailable at once, or a percentage of them, such as 10%"},
		&cli.DurationFlag{Name: flagSoak, Usage: "how long the first node of each role must be healthy before others follow, such as `10m`"},
		&cli.StringSliceFlag{Name: flagRetry, Usage: "try the node `NAME` again after it failed or went back (repeatable)"},
		&cli.BoolFlag{Name: flagRollback, Usage: "bring nodes back to the Talos that they ran before: those of --" + flagNode + ", or all that have Git's"},
		&cli.StringFlag{Name: flagAutoscaled, Usage: "`HOW` to upgrade nodes of the autoscaler: " + strings.Join(autoscaledValues, ", ") + "; without it in-place, or leave with autoscaler.discovery: false"},
		&cli.StringFlag{Name: flagRebootMode, Usage: "`HOW` nodes reboot into the new Talos, in place of talos.upgrade.rebootMode: " + strings.Join(rebootModes, " or ")},
		timelineFlag(), outputFlag(),
	}
}

// upgradePolicy reads the flags of upgrade.
func upgradePolicy(c *cli.Context) (p upgradeplan.Policy, err error) {
	until, autoscaled, reboot := c.String(flagUntil), c.String(flagAutoscaled), c.String(flagRebootMode)
	switch {
	case until != "" && !slices.Contains(untilValues, until):
		return p, unknownValue(flagUntil, until, untilValues)
	case autoscaled != "" && !slices.Contains(autoscaledValues, autoscaled):
		return p, unknownValue(flagAutoscaled, autoscaled, autoscaledValues)
	case reboot != "" && !slices.Contains(rebootModes, reboot):
		return p, unknownValue(flagRebootMode, reboot, rebootModes)
	case slices.ContainsFunc(c.StringSlice(flagAllow), unknownRisk):
		ids := c.StringSlice(flagAllow)
		return p, diag.On("--"+flagAllow, "no risk has the ID %q", ids[slices.IndexFunc(ids, unknownRisk)]).WithHint("the plan shows those that it takes").WithCode(diag.Usage)
	case c.Bool(flagRollback) && (c.Bool(flagKubernetes) || until != "" || c.IsSet(flagAutoscaled)):
		return p, diag.On("--"+flagRollback, "it goes with neither --%s nor --%s nor --%s", flagKubernetes, flagUntil, flagAutoscaled).WithCode(diag.Usage)
	case c.Duration(flagSoak) < 0:
		return p, diag.On("--"+flagSoak, "%v is less than nothing", c.Duration(flagSoak)).WithCode(diag.Usage)
	}
	number, percent, err := parallelOf(c.String(flagMaxParallel))
	if err != nil {
		return p, err
	}
	p = upgradeplan.Policy{
		Nodes: c.StringSlice(flagNode), MaxParallel: number, Percent: percent, Soak: int(c.Duration(flagSoak) / time.Second),
		Retry: c.StringSlice(flagRetry), Allow: c.StringSlice(flagAllow), RebootMode: reboot,
	}
	if p.Rollback = c.Bool(flagRollback); !p.Rollback {
		p = p.Of(c.Bool(flagTalos), c.Bool(flagKubernetes))
	}
	set(&p.Until, until)
	set(&p.Autoscaled, autoscaled)
	return p, nil
}

// parallelOf reads how many workers may be away: a number, or a percentage.
func parallelOf(text string) (number, percent int, err error) {
	digits, isPercent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil:
		return 0, 0, diag.On("--"+flagMaxParallel, "%q is neither a number nor a percentage", text).WithCode(diag.Usage)
	case n < 1:
		return 0, 0, diag.On("--"+flagMaxParallel, "%s is less than 1", text).WithCode(diag.Usage)
	case isPercent && n > 100:
		return 0, 0, diag.On("--"+flagMaxParallel, "%s is more than all", text).WithCode(diag.Usage)
	case isPercent:
		return 0, n, nil
	}
	return n, 0, nil
}

// unknownRisk reports whether an ID is that of no risk.
func unknownRisk(id string) bool { return !upgradeplan.Known(id) }

// set gives a value of some kind of text the one of a flag.
func set[T ~string](to *T, value string) { *to = T(value) }
