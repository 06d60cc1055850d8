package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
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
		&cli.StringSliceFlag{Name: flagEndpoints, Usage: "where a node is: `NODE=ADDRESS`, instead of where the tree and Hetzner say (repeatable)"},
		&cli.StringSliceFlag{Name: flagFingerprint, Usage: "the key that a machine shows in maintenance mode, as its console does: `NODE=FINGERPRINT`; it is taken for a new one, and no other is (repeatable)"},
		&cli.StringSliceFlag{Name: flagSSHKey, Usage: "private key in `FILE` to log in with on the server that leads to nodes; default: those of your SSH agent"},
	}
}

// stageFlags are those of plan and apply about nodes.
func stageFlags() []cli.Flag {
	return append(nodeFlags(),
		&cli.StringFlag{Name: flagMode, Value: string(apply.Auto), Usage: "of changes to nodes: auto reboots where it is needed, no-reboot leaves those out, staged changes nothing before the next reboot: `MODE`"},
		&cli.IntFlag{Name: flagMaxParallel, Value: 1, Usage: "`NUMBER` of workers that may be away at once"},
		&cli.StringSliceFlag{Name: flagNode, Usage: "only the node `NAME`, not the others (repeatable)"},
		stageFlag(),
	)
}

func stageFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: flagStage, Usage: "only the stage `NAME`: " + strings.Join(stageNames(), ", ") + " (repeatable)"}
}

func stageNames() (names []string) {
	for _, s := range apply.Stages() {
		names = append(names, string(s))
	}
	return names
}

func unknownValue(flag, value string, known []string) error {
	return diag.On("--"+flag, "there is no %q, only %s", value, strings.Join(known, ", ")).
		WithHint("%s", diag.Suggest(value, known)).WithCode(diag.Usage)
}
