package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
)

// Flags of commands that talk to nodes.
const (
	flagEndpoints   = "endpoints"
	flagFingerprint = "fingerprint"
	flagSSHKey      = "ssh-key"
	flagMode        = "mode"
	flagMaxParallel = "max-parallel"
	flagNode        = "node"
	flagStage       = "stage"
	flagRecoverFrom = "recover-from"
)

// nodeFlags are those of every command that talks to nodes.
func nodeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: flagEndpoints, Usage: "address of a node, `NODE=ADDRESS`, in place of the one from the tree or from Hetzner (repeatable)"},
		&cli.StringSliceFlag{Name: flagFingerprint, Usage: "configure only a machine that shows this key in maintenance mode, as on its console: `NODE=FINGERPRINT` (repeatable)"},
		&cli.StringSliceFlag{Name: flagSSHKey, Usage: "private key `FILE` for the SSH server in front of the nodes; default: keys of your SSH agent"},
	}
}

// stageFlags are those of plan and apply about nodes.
func stageFlags() []cli.Flag {
	return append(nodeFlags(),
		&cli.StringFlag{Name: flagMode, Value: string(nodeplan.Auto), Usage: "`MODE` of changes to nodes: auto reboots where needed, no-reboot skips changes that need a reboot, staged applies them at the next reboot"},
		&cli.IntFlag{Name: flagMaxParallel, Value: 1, Usage: "`NUMBER` of workers that may be unavailable at once"},
		&cli.StringSliceFlag{Name: flagNode, Usage: "change only the node `NAME` (repeatable)"},
		stageFlag(),
	)
}

func stageFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: flagStage, Usage: "run only the stage `NAME`: " + strings.Join(stageNames(), ", ") + " (repeatable)"}
}

func stageNames() (names []string) {
	for _, s := range apply.Stages() {
		names = append(names, string(s))
	}
	return names
}

func unknownValue(flag, value string, known []string) error {
	return diag.On("--"+flag, "unknown value %q, known are %s", value, strings.Join(known, ", ")).
		WithHint("%s", diag.Suggest(value, known)).WithCode(diag.Usage)
}
