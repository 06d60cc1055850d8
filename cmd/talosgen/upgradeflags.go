package main

import (
	"slices"
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
	flagAutoscaled = "autoscaled"
	flagRebootMode = "reboot-mode"
)

// Values of flags of upgrade.
var (
	untilValues      = []string{"first", "control-planes"}
	autoscaledValues = []string{"in-place", "leave"}
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
		&cli.IntFlag{Name: flagMaxParallel, Value: 1, Usage: "`NUMBER` of workers that may be unavailable at once"},
		&cli.DurationFlag{Name: flagSoak, Usage: "how long the first node of each role must be healthy before others follow, such as `10m`"},
		&cli.StringSliceFlag{Name: flagRetry, Usage: "try the node `NAME` again after it failed or went back (repeatable)"},
		&cli.StringFlag{Name: flagAutoscaled, Value: autoscaledValues[0], Usage: "`HOW` to upgrade nodes of the autoscaler: " + strings.Join(autoscaledValues, " or ")},
		&cli.StringFlag{Name: flagRebootMode, Usage: "`HOW` nodes reboot into the new Talos, in place of talos.upgrade.rebootMode: " + strings.Join(rebootModes, " or ")},
		outputFlag(),
	}
}

// upgradePolicy reads the flags of upgrade.
func upgradePolicy(c *cli.Context) (p upgradeplan.Policy, err error) {
	until, autoscaled, reboot := c.String(flagUntil), c.String(flagAutoscaled), c.String(flagRebootMode)
	switch {
	case until != "" && !slices.Contains(untilValues, until):
		return p, unknownValue(flagUntil, until, untilValues)
	case !slices.Contains(autoscaledValues, autoscaled):
		return p, unknownValue(flagAutoscaled, autoscaled, autoscaledValues)
	case reboot != "" && !slices.Contains(rebootModes, reboot):
		return p, unknownValue(flagRebootMode, reboot, rebootModes)
	case c.Int(flagMaxParallel) < 1:
		return p, diag.On("--"+flagMaxParallel, "%d is less than 1", c.Int(flagMaxParallel)).WithCode(diag.Usage)
	case c.Duration(flagSoak) < 0:
		return p, diag.On("--"+flagSoak, "%v is less than nothing", c.Duration(flagSoak)).WithCode(diag.Usage)
	}
	p = upgradeplan.Policy{
		Nodes: c.StringSlice(flagNode), MaxParallel: c.Int(flagMaxParallel), Soak: int(c.Duration(flagSoak) / time.Second),
		Retry: c.StringSlice(flagRetry), Allow: c.StringSlice(flagAllow), RebootMode: reboot,
	}
	p = p.Of(c.Bool(flagTalos), c.Bool(flagKubernetes))
	set(&p.Until, until)
	if autoscaled != autoscaledValues[0] {
		set(&p.Autoscaled, autoscaled)
	}
	return p, nil
}

// set gives a value of some kind of text the one of a flag.
func set[T ~string](to *T, value string) { *to = T(value) }
