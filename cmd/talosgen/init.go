package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/scaffold"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

const (
	flagAPISource = "api-source"
	flagDigest    = "talosgen-sha256"
	// currentSource stands for the public addresses of this machine.
	currentSource = "current"
)

// initCommand starts a repository.
type initCommand struct {
	out       *console
	process   render.Process
	operator  operatorKeys
	addresses publicAddress
}

func (i initCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "create a repository",
		ArgsUsage: "<dir>",
		Description: `Writes a repository with one environment that renders at once: cluster.yaml,
cluster.env, patches, encrypted secrets, a Taskfile, a pre-commit configuration
and a pipeline that checks pull requests without keys, and can plan and apply.
Your age key is the first one in the key file of sops; if that file does not
exist, a key is generated there, outside of the repository. Existing files are
never overwritten. In a folder of a larger Git repository neither a pipeline nor
hooks are written: they have to be at its top.

At Hetzner Cloud the firewall drops all traffic to the APIs of the cluster but
from allowed sources: set them with --api-source, or later in cluster.yaml. To
find the current address, icanhazip.com is queried.

Examples:
   talosgen init my-clusters
   talosgen init my-clusters --api-source 203.0.113.0/24
                                  allow the network of an office
   talosgen init my-clusters --api-source current
                                  allow the address of this machine
   talosgen init my-clusters --ci gitlab
   talosgen init home --provider static --env home --cluster-name home`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "provider", Usage: "provider of the nodes: " + strings.Join(scaffold.Providers, " or "), Value: scaffold.Providers[0]},
			&cli.StringFlag{Name: "ci", Usage: "CI system of the pipeline: " + strings.Join(scaffold.CIs, ", "), Value: scaffold.CIs[0]},
			&cli.StringFlag{Name: "env", Usage: "`NAME` of the first environment", Value: "dev"},
			&cli.StringFlag{Name: flagClusterName, Usage: "`NAME` of the cluster; default: the name of the environment"},
			&cli.StringSliceFlag{Name: flagAPISource, Usage: "`RANGE` that may reach the APIs of the cluster; current is the address of this machine (repeatable)"},
			&cli.StringFlag{Name: "talos-version", Usage: "`VERSION` of Talos", Value: versions.Newest().Talos},
			&cli.StringFlag{Name: flagDigest, Usage: "`SHA256` of talosgen-linux-amd64 for the pipeline; default: that of this program, if it is for linux/amd64"},
			&cli.StringFlag{Name: "kubernetes-version", Usage: "`VERSION` of Kubernetes; default: the one that this Talos installs"},
		},
		Action: i.run,
	}
}

// apiSource is from where the APIs of a new cluster may be used.
func (i initCommand) apiSource(c *cli.Context) (ranges []string, err error) {
	for _, text := range c.StringSlice(flagAPISource) {
		if text != currentSource {
			ranges = append(ranges, text)
			continue
		}
		own := i.addresses.find(c.Context)
		if len(own) == 0 {
			return nil, diag.On("", "the public address of this machine was not found: no answer from %s", strings.Join(addressServices, " and ")).
				WithHint("name it: --%s 203.0.113.7", flagAPISource).WithCode(diag.Remote)
		}
		for _, addr := range own {
			ranges = append(ranges, addr.String())
		}
	}
	return ranges, nil
}

func (i initCommand) run(c *cli.Context) error {
	if c.NArg() != 1 {
		return diag.On("", "which directory?").WithHint("talosgen init <dir>").WithCode(diag.Usage)
	}
	dir, env := c.Args().First(), c.String("env")
	top, inGit, err := topAbove(dir)
	if err != nil {
		return err
	}
	options, err := i.options(c, top != "")
	if err != nil {
		return err
	}
	keyFile, recipient, made, err := i.operator.find()
	if err != nil {
		return err
	}
	options.AgeRecipient = recipient
	files, err := i.files(options)
	if err != nil {
		return err
	}
	if err := writeScaffold(dir, files); err != nil {
		return err
	}
	if made {
		i.out.say("generated an age key: %s (keep a copy in a safe place)", keyFile)
	} else {
		i.out.say("using your age key %s", keyFile)
	}
	repo, err := render.Open(dir, i.process)
	if err != nil {
		return err
	}
	defer repo.Close()
	report, err := vault.Init(c.Context, repo, env)
	if err != nil {
		return err
	}
	i.out.say("wrote %s with the environment %q", dir, env)
	if top != "" {
		i.out.say("it is a folder of the Git repository %s, at whose top hooks, a pipeline and renovate.json would have to be: none was written (docs/how-to/check-in-ci.md)", top)
	}
	i.out.say("\nnext:\n  %s", commandLine([]string{"cd", dir}))
	if !inGit {
		i.out.say("  git init -b main")
	}
	i.out.say("  edit what is marked with EDIT in envs/%s", env)
	for _, name := range report.Missing {
		i.out.say("  %s=… talosgen secrets sync %s", name, env)
	}
	i.out.say("  talosgen render %s", env)
	return nil
}

// topAbove is the work tree of Git that a directory is a folder of; empty if it is none, or
// the top of one itself.
func topAbove(dir string) (top string, inGit bool, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", false, unreadable(dir, err)
	}
	top, inGit = workTree(abs)
	if top == abs {
		top = ""
	}
	return top, inGit, nil
}

// files are those of the new repository, with the schemas that its editors use.
func (i initCommand) files(options scaffold.Options) ([]scaffold.File, error) {
	files, err := scaffold.Files(options)
	if err != nil {
		return nil, err
	}
	talos := options.TalosVersion
	if _, known := versions.Of(talos); !known {
		talos = versions.Newest().Talos
	}
	release, _ := versions.Of(talos)
	of, err := schemaFiles(schemasDir, release.Contract())
	return append(files, of...), err
}

// options are what the flags say of the new repository; whose key it is
// for is not among them.
func (i initCommand) options(c *cli.Context, inside bool) (scaffold.Options, error) {
	name := c.String(flagClusterName)
	if name == "" {
		name = c.String("env")
	}
	source, err := i.apiSource(c)
	if err != nil {
		return scaffold.Options{}, err
	}
	ci := c.String("ci")
	if inside && !c.IsSet("ci") {
		ci = "none"
	}
	digest, err := i.releaseDigest(c)
	return scaffold.Options{
		Provider: c.String("provider"), CI: ci, Inside: inside, Env: c.String("env"), ClusterName: name, TalosgenVersion: version, TalosgenDigest: digest,
		TalosVersion: c.String("talos-version"), KubernetesVersion: c.String("kubernetes-version"), APISource: source,
	}, err
}

// releaseDigest is the digest of the program that a pipeline may run: the one that
// is given, else that of this very program, if the runner of a pipeline could run
// it. Of other platforms nothing is known of the release for linux/amd64.
func (i initCommand) releaseDigest(c *cli.Context) (string, error) {
	if given := c.String(flagDigest); given != "" {
		return given, nil
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", diag.On("", "this program cannot be found to take its digest: %v", err).WithHint("name one with --%s", flagDigest)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", unreadable(path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
