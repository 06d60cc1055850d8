package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/plan"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
)

// Flags of consent.
const (
	flagAllow         = "allow"
	flagAllowDestroy  = "allow-destroy"
	flagAllowPowerOff = "allow-power-off"
	flagAdopt         = "adopt"
	flagReplace       = "replace"
)

// policyFlags are those of plan and apply.
func policyFlags() []cli.Flag {
	return append(stageFlags(),
		&cli.StringSliceFlag{Name: flagAllow, Usage: "allow destroying or powering off the object `NAME`; recreate/ and volumes/ with a pool or node allow what the plan says of these; older-tree allows a tree older than the one applied last (repeatable)"},
		&cli.BoolFlag{Name: flagAllowDestroy, Usage: "allow all changes that destroy something"},
		&cli.BoolFlag{Name: flagAllowPowerOff, Usage: "allow all changes that power a server off"},
		&cli.StringSliceFlag{Name: flagAdopt, Usage: "take ownership of the existing object `NAME` (repeatable)"},
		&cli.StringSliceFlag{Name: flagReplace, Usage: "delete and create again the server `NAME`, which is not a node (repeatable)"},
	)
}

func policy(c *cli.Context) (apply.Policy, error) {
	p := apply.Policy{Consent: plan.Consent{
		Allow:         c.StringSlice(flagAllow),
		AllowDestroy:  c.Bool(flagAllowDestroy),
		AllowPowerOff: c.Bool(flagAllowPowerOff),
		Adopt:         c.StringSlice(flagAdopt),
		Replace:       c.StringSlice(flagReplace),
	}}
	err := nodePolicy(c, &p)
	return p, err
}

// nodePolicy reads the flags of plan and apply about nodes.
func nodePolicy(c *cli.Context, p *apply.Policy) (err error) {
	modes := []string{string(nodeplan.Auto), string(nodeplan.NoReboot), string(nodeplan.Staged)}
	if mode := c.String(flagMode); !slices.Contains(modes, mode) {
		return unknownValue(flagMode, mode, modes)
	}
	if c.Int(flagMaxParallel) < 1 {
		return diag.On("--"+flagMaxParallel, "%d is less than 1", c.Int(flagMaxParallel)).WithCode(diag.Usage)
	}
	p.Mode, p.MaxParallel, p.Nodes = nodeplan.Mode(c.String(flagMode)), c.Int(flagMaxParallel), c.StringSlice(flagNode)
	p.Stages, err = stages(c)
	return err
}

// stages reads which stages a run has; none are all.
func stages(c *cli.Context) (found []apply.Stage, err error) {
	for _, name := range c.StringSlice(flagStage) {
		if !slices.Contains(stageNames(), name) {
			return nil, unknownValue(flagStage, name, stageNames())
		}
		found = append(found, apply.Stage(name))
	}
	return found, nil
}
