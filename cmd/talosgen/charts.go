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
		Name: "charts", Usage: "pin and keep the charts and manifests that addons come from",
		Description: `A render opens no connection. What addons need from elsewhere is pinned in
charts/charts.lock with its digest, and kept in charts/ or in the cache of this
machine. A digest that does not fit stops everything.

Proxies are those of HTTPS_PROXY and NO_PROXY, authorities of your own those of
SSL_CERT_FILE. Credentials are those that docker login and helm registry login
write (--registry-config, $DOCKER_CONFIG/config.json or ~/.docker/config.json),
and those in ~/.netrc; they go to the host that they are for, and no other.

Examples:
   talosgen charts lock            pin what is new
   talosgen charts lock --update   pin everything again
   talosgen charts vendor          keep all of it in charts/
   talosgen charts verify          is everything there, and as it was pinned?`,
		Subcommands: []*cli.Command{h.lockCommand(), h.vendorCommand(), h.verifyCommand()},
	}
}

func (h chartsCommand) lockCommand() *cli.Command {
	return &cli.Command{
		Name: "lock", Usage: "write charts/charts.lock",
		Description: `Looks at the addons of all environments, and pins each chart and manifest that
comes from elsewhere: its version, and the digests of its archive and, in a
registry, of its manifest. What is pinned already stays as it is. What no addon
needs any more goes from the lock, and its file from charts/. Needs no keys.

Examples:
   talosgen charts lock
   talosgen charts lock --update`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "update", Usage: "pin everything again: newer versions of ranges, and what changed"},
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
		Name: "vendor", Usage: "put what is pinned into charts/",
		Description: `Gets what charts/charts.lock pins and is not in charts/ yet, from the cache of
this machine or from where it comes. Commit it, and nobody needs its source to
render. What is in charts/ and used by no addon is listed. Needs no keys.

Examples:
   talosgen charts vendor
   talosgen charts vendor --prune
   talosgen charts vendor --registry-config ci/registries.json`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "prune", Usage: "remove archives and manifests in charts/ that no addon uses; directories stay"},
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
		Description: `Says whether everything that addons need is pinned, there, and what was pinned,
and whether there is nothing else. Opens no connection and needs no keys: it is
for CI.

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
	return &cli.StringFlag{Name: flagRegistryConfig, Usage: "a `FILE` with credentials for registries and repositories, as docker login writes it"}
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
	if wantsJSON(c) {
		if states == nil {
			states = []charts.State{}
		}
		return h.out.printJSON(states)
	}
	for _, s := range states {
		h.out.say("%-9s %s %s", s.State, strings.TrimSpace(s.Name+" "+s.Version), s.Digest[:12])
		if s.State == "unused" && complete {
			h.out.warn("no addon uses %s; talosgen charts vendor --prune removes it", s.File)
		}
		if s.State == "changed" {
			h.out.warn("%s %s is not what it was: find out why, before you run it", s.Name, s.Version)
		}
	}
	if len(states) == 0 && complete {
		h.out.say("no addon needs anything from elsewhere")
	}
	return nil
}
