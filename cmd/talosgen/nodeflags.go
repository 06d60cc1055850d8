package main

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/atomicfile"
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

// simulatedNodes is the variable that says that there are nodes behind the
// servers of a simulated project; runKubernetes is its value if Kubernetes runs on
// them.
const (
	simulatedNodes = "TALOSGEN_SIM_NODES"
	runKubernetes  = "kubernetes"
)

// simulatedOwn is the address by which a simulator on this machine knows whoever
// runs this. Any would do: nobody filters.
var simulatedOwn = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}

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

// nodePolicy reads the flags of plan and apply about nodes.
func nodePolicy(c *cli.Context, p *apply.Policy) (err error) {
	modes := []string{string(apply.Auto), string(apply.NoReboot), string(apply.Staged)}
	if mode := c.String(flagMode); !slices.Contains(modes, mode) {
		return unknownValue(flagMode, mode, modes)
	}
	if c.Int(flagMaxParallel) < 1 {
		return diag.On("--"+flagMaxParallel, "%d is less than 1", c.Int(flagMaxParallel)).WithCode(diag.Usage)
	}
	p.Mode, p.MaxParallel, p.Nodes = apply.Mode(c.String(flagMode)), c.Int(flagMaxParallel), c.StringSlice(flagNode)
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

func unknownValue(flag, value string, known []string) error {
	return diag.On("--"+flag, "there is no %q, only %s", value, strings.Join(known, ", ")).
		WithHint("%s", diag.Suggest(value, known)).WithCode(diag.Usage)
}

// nodes is how the nodes of an environment are reached. Behind the servers of a
// simulated project there are none, unless it says so.
func (w *world) nodes(c *cli.Context, root string, facts *repoFacts, local bool) (apply.Nodes, error) {
	behind, simulated := w.lookup(simulatedNodes)
	if local && !simulated {
		return apply.Nodes{}, nil
	}
	endpoints, err := apply.ParseEndpoints(c.StringSlice(flagEndpoints))
	if err != nil {
		return apply.Nodes{}, err
	}
	fingerprints, err := apply.ParseFingerprints(c.StringSlice(flagFingerprint))
	if err != nil {
		return apply.Nodes{}, err
	}
	dial, err := w.serverDialer()
	if err != nil {
		return apply.Nodes{}, err
	}
	signers, err := w.sshKeys(c)
	if err != nil {
		return apply.Nodes{}, err
	}
	var kept apply.FactsFile
	if facts != nil {
		kept = facts
	}
	return apply.Nodes{
		Dial: dial, Signers: signers, Endpoints: endpoints, Fingerprints: fingerprints, Facts: kept, Kubernetes: behind == runKubernetes,
		Owner: w.owner(), Keep: keepIn(root), Recovery: recoveryFrom(c.String(flagRecoverFrom)),
		Own: func(ctx context.Context) []netip.Addr {
			if local {
				return simulatedOwn
			}
			return w.ownAddresses(ctx)
		},
	}, nil
}

// sshKeys are those of a simulated world, or of files that are named, or else of
// the agent; nil if there are none.
func (w *world) sshKeys(c *cli.Context) (apply.Signers, error) {
	if w.signers != nil {
		return w.signers, nil
	}
	var contents [][]byte
	names := c.StringSlice(flagSSHKey)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, unreadable(name, err)
		}
		contents = append(contents, data)
	}
	if len(names) > 0 {
		return apply.SSHFileKeys(names, contents, w.ask), nil
	}
	if socket, ok := w.lookup("SSH_AUTH_SOCK"); ok && socket != "" {
		return apply.SSHAgentKeys(socket), nil
	}
	return nil, nil
}

// recoveryFrom is the snapshot in a file; nil without one.
func recoveryFrom(file string) *apply.Recovery {
	if file == "" {
		return nil
	}
	return &apply.Recovery{File: file, Open: func() (io.ReadCloser, error) {
		f, err := os.Open(file)
		if err != nil {
			return nil, unreadable(file, err)
		}
		return f, nil
	}}
}

// keepIn keeps snapshots of etcd in a directory. They are encrypted.
func keepIn(dir string) apply.Keep {
	return func(name string, write func(io.Writer) error) (string, error) {
		file := filepath.Join(dir, name)
		var known *diag.Problem
		if err := atomicfile.CreateStream(file, 0o600, write); errors.As(err, &known) {
			return "", err // not of the file, but of what was to be in it
		} else if err != nil {
			return "", diag.New(diag.Pos{File: file}, "cannot be written: %v", reasonOf(err)).WithCause(err)
		}
		return file, nil
	}
}
