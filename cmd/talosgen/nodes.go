package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
)

// simulatedNodes is the variable that says that there are nodes behind the
// servers of a simulated project; runKubernetes is its value if Kubernetes runs on
// them.
const (
	simulatedNodes = "TALOSGEN_SIM_NODES"
	runKubernetes  = "kubernetes"
)

// simulatedOwn is the address of the operator for a simulator on this machine. Any
// would do: it is not compared.
var simulatedOwn = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}

// nodes is how the nodes of an environment are reached. Behind the servers of a
// simulated project there are none, unless it says so.
func (k clusters) nodes(c *cli.Context, s *session) (apply.Nodes, error) {
	behind, simulated := k.vars(simulatedNodes)
	if s.local && !simulated {
		return apply.Nodes{}, nil
	}
	endpoints, err := reach.ParseEndpoints(c.StringSlice(flagEndpoints))
	if err != nil {
		return apply.Nodes{}, err
	}
	fingerprints, err := reach.ParseFingerprints(c.StringSlice(flagFingerprint))
	if err != nil {
		return apply.Nodes{}, err
	}
	dial, err := serverDialer(k.vars, k.out.masker)
	if err != nil {
		return apply.Nodes{}, err
	}
	signers, err := k.sshKeys(c)
	if err != nil {
		return apply.Nodes{}, err
	}
	var kept apply.FactsFile
	if s.facts != nil {
		kept = s.facts
	}
	keep := k.keep
	if keep == nil {
		keep = keepBeside(s.root)
	}
	return apply.Nodes{
		Dial: dial, Signers: signers, Endpoints: endpoints, Fingerprints: fingerprints, Facts: kept, Kubernetes: behind == runKubernetes,
		Owner: k.owner(), Keep: keep, Recovery: recoveryFrom(c.String(flagRecoverFrom)),
		Own: s.own,
	}, nil
}

// sshKeys are those of a simulation, or of files that are named, or else of
// the agent; nil if there are none.
func (k clusters) sshKeys(c *cli.Context) (reach.Signers, error) {
	if k.signers != nil {
		return k.signers, nil
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
		return reach.FileKeys(names, contents, k.keys.ask), nil
	}
	if socket := k.vars.get("SSH_AUTH_SOCK"); socket != "" {
		return reach.AgentKeys(socket), nil
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

// keepBeside is [keepIn] for who does not choose names: a run may begin in the second in
// which one before it was killed.
func keepBeside(dir string) apply.Keep {
	return func(name string, write func(io.Writer) error) (string, error) {
		base, ending, _ := strings.Cut(name, ".")
		for n := 2; ; n++ {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				return keepIn(dir)(name, write)
			}
			name = fmt.Sprintf("%s-%d.%s", base, n, ending)
		}
	}
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
