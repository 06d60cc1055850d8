package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/internal/diag"
)

// Flags of watch.
const (
	flagInterval        = "interval"
	flagHeal            = "heal"
	flagDeadAfter       = "dead-after"
	flagMaxReplacements = "max-replacements"
	flagOnce            = "once"
	flagMetrics         = "metrics"
)

// Bounds of a watch: a look asks Hetzner, nodes and Kubernetes dozens of questions, and
// Kubernetes takes most of a minute to see that a node is away.
const (
	shortestInterval  = 10 * time.Second
	shortestDeadAfter = 2 * time.Minute
)

func watchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: flagInterval, Value: time.Minute, Usage: "look every `DURATION`"},
		&cli.StringSliceFlag{Name: flagHeal, Value: cli.NewStringSlice(healNames()...), Usage: "heal `WHAT`: drift, workers (repeatable)"},
		&cli.DurationFlag{Name: flagDeadAfter, Value: 10 * time.Minute, Usage: "replace a worker that is dead for `DURATION`"},
		&cli.StringFlag{Name: flagMaxReplacements, Value: "1/h", Usage: "replace at most `NUMBER/DURATION`, such as 1/h or 2/30m; workers that others created count too"},
		&cli.BoolFlag{Name: flagDryRun, Usage: "change nothing, and say what would be healed"},
		&cli.BoolFlag{Name: flagOnce, Usage: "look once; if a worker is found dead, until it is decided about it"},
		&cli.StringFlag{Name: flagMetrics, Value: "127.0.0.1:9090", Usage: "serve /metrics for Prometheus, and /healthz, at `ADDRESS`; empty: do not"},
		&cli.BoolFlag{Name: flagKeyless, Usage: "with --" + flagDryRun + ": look at the infrastructure only, without any key; a read-only $" + tokenVariable + " is enough"},
		outputFlag(),
	}
}

// healNames are what a watch may heal.
func healNames() (names []string) {
	for _, h := range watch.Heals() {
		names = append(names, string(h))
	}
	return names
}

// watchPolicy reads what a watch may do.
func watchPolicy(c *cli.Context) (p watch.Policy, err error) {
	for _, name := range c.StringSlice(flagHeal) {
		if !slices.Contains(healNames(), name) {
			return p, unknownValue(flagHeal, name, healNames())
		}
		p.Heal = append(p.Heal, watch.Heal(name))
	}
	p.Interval, p.DeadAfter = c.Duration(flagInterval), c.Duration(flagDeadAfter)
	for flag, shortest := range map[string]time.Duration{flagInterval: shortestInterval, flagDeadAfter: max(shortestDeadAfter, 2*p.Interval)} {
		if c.Duration(flag) < shortest {
			return p, diag.On("--"+flag, "%v is less than %v", c.Duration(flag), shortest).
				WithHint("a worker is dead only if several looks find it dead").WithCode(diag.Usage)
		}
	}
	if c.Bool(flagKeyless) && !c.Bool(flagDryRun) {
		return p, diag.On("--"+flagKeyless, "only with --%s", flagDryRun).
			WithHint("a tree without a verified seal is compared with Hetzner only").WithCode(diag.Usage)
	}
	if c.String(flagOutput) == yamlFormat {
		return p, diag.On("--"+flagOutput, "a watch prints a line of JSON for each turn").WithHint("-o %s", jsonFormat).WithCode(diag.Usage)
	}
	p.Most, p.Per, err = replacements(c.String(flagMaxReplacements))
	return p, err
}

// replacements reads how many workers may be replaced within a time: 1/h, 2/30m.
func replacements(text string) (most int, per time.Duration, err error) {
	number, within, found := strings.Cut(text, "/")
	if most, err = strconv.Atoi(number); err == nil && found && most >= 0 {
		if !strings.ContainsAny(within, "0123456789") {
			within = "1" + within
		}
		if per, err = time.ParseDuration(within); err == nil && per >= time.Minute {
			return most, per, nil
		}
	}
	return 0, 0, diag.On("--"+flagMaxReplacements, "%q is not a number in a time of a minute or more", text).WithHint("such as 1/h, or 2/30m").WithCode(diag.Usage)
}
