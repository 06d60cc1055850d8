package main

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/charts"
)

const (
	flagRegistryConfig = "registry-config"
	flagFetch          = "fetch" // of render
)

// chartsCommand pins and keeps what addons come from.
type chartsCommand struct {
	ws      workspace
	out     *console
	network chartNetwork
}

func (h chartsCommand) command() *cli.Command {
	return &cli.Command{
		Name: "charts", Usage: "pin and vendor the charts and manifests of addons",
		Description: `A render uses no network. Charts and manifests from elsewhere are pinned in
charts/charts.lock with their digests, and stored in charts/ or in the local
cache. A wrong digest is an error.

Proxies are read from HTTPS_PROXY and NO_PROXY, certificate authorities from
SSL_CERT_FILE. Credentials are read from the file that docker login and helm
registry login write (--registry-config, $DOCKER_CONFIG/config.json or
~/.docker/config.json), and from ~/.netrc; each is sent to its own host only.

Examples:
   talosgen charts lock            pin new charts
   talosgen charts lock --update   pin all charts again
   talosgen charts vendor          store all charts in charts/
   talosgen charts verify          compare charts/ with the lock
   talosgen charts outdated        list newer versions`,
		Subcommands: []*cli.Command{h.lockCommand(), h.vendorCommand(), h.verifyCommand(), h.outdatedCommand()},
	}
}

func (h chartsCommand) lockCommand() *cli.Command {
	return &cli.Command{
		Name: "lock", Usage: "write charts/charts.lock",
		Description: `Pins each chart and manifest that addons of any environment get from elsewhere:
its version, and the digests of its archive and, in a registry, of its manifest.
Existing pins are unchanged. Entries that no addon uses any more are removed from
the lock, and their files from charts/. Needs no keys.

Examples:
   talosgen charts lock
   talosgen charts lock --update`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "update", Usage: "pin everything again, with the newest versions of ranges"},
			registryConfigFlag(), outputFlag(),
		},
		Action: func(c *cli.Context) error {
			return h.run(c, func(ctx context.Context, repo *render.Repo, n charts.Network) ([]charts.State, error) {
				return charts.Lock(ctx, repo, n, c.Bool("update"))
			})
		},
	}
}

func (h chartsCommand) vendorCommand() *cli.Command {
	return &cli.Command{
		Name: "vendor", Usage: "store pinned charts in charts/",
		Description: `Copies what charts/charts.lock pins into charts/, from the local cache or from its
source. Once it is committed, a render needs no network. Files in charts/ that no
addon uses are listed. Needs no keys.

Examples:
   talosgen charts vendor
   talosgen charts vendor --prune
   talosgen charts vendor --registry-config ci/registries.json`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "prune", Usage: "remove archives and manifests in charts/ that no addon uses; keep directories"},
			registryConfigFlag(), outputFlag(),
		},
		Action: func(c *cli.Context) error {
			return h.run(c, func(ctx context.Context, repo *render.Repo, n charts.Network) ([]charts.State, error) {
				return charts.Vendor(ctx, repo, n, c.Bool("prune"))
			})
		},
	}
}

func (h chartsCommand) verifyCommand() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "compare charts/ with charts/charts.lock",
		Description: `Checks that all charts that addons need are pinned, exist and have the pinned
digests, and that charts/ has no other files. Needs no network and no keys, as in
CI.

Example:
   talosgen charts verify -o json`,
		Flags: []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			return h.run(c, func(ctx context.Context, repo *render.Repo, _ charts.Network) ([]charts.State, error) {
				return charts.Verify(ctx, repo)
			})
		},
	}
}

func registryConfigFlag() cli.Flag {
	return &cli.StringFlag{Name: flagRegistryConfig, Usage: "`FILE` with credentials for registries and repositories, as docker login writes it"}
}

// run runs a command about charts, and prints what became of each.
func (h chartsCommand) run(c *cli.Context, do func(context.Context, *render.Repo, charts.Network) ([]charts.State, error)) error {
	repo, err := h.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	network, err := h.network.open(c)
	if err != nil {
		return err
	}
	states, err := do(c.Context, repo, network)
	return errors.Join(h.print(c, states, err == nil), err)
}

func (h chartsCommand) print(c *cli.Context, states []charts.State, complete bool) error {
	if forPrograms(c) {
		if states == nil {
			states = []charts.State{}
		}
		return h.out.printValue(c, states)
	}
	for _, s := range states {
		h.out.say("%-9s %s %s", s.State, strings.TrimSpace(s.Name+" "+s.Version), s.Digest[:12])
		if s.State == "unused" && complete {
			h.out.warn("no addon uses %s; talosgen charts vendor --prune removes it", s.File)
		}
		if s.State == "changed" {
			h.out.warn("%s %s has changed since it was pinned: find out why before you use it", s.Name, s.Version)
		}
	}
	if len(states) == 0 && complete {
		h.out.say("no addon uses external charts or manifests")
	}
	return nil
}
