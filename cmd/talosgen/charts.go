package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/charts"
)

const (
	flagRegistryConfig = "registry-config"
	flagFetch          = "fetch" // of render
)

func chartsCommand(w *world) *cli.Command {
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
		Subcommands: []*cli.Command{chartsLockCommand(w), chartsVendorCommand(w), chartsVerifyCommand(w)},
	}
}

func chartsLockCommand(w *world) *cli.Command {
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
			return w.charts(c, func(ctx context.Context, repo *render.Repo, n charts.Network) ([]charts.State, error) {
				return charts.Lock(ctx, repo, n, c.Bool("update"))
			})
		},
	}
}

func chartsVendorCommand(w *world) *cli.Command {
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
			return w.charts(c, func(ctx context.Context, repo *render.Repo, n charts.Network) ([]charts.State, error) {
				return charts.Vendor(ctx, repo, n, c.Bool("prune"))
			})
		},
	}
}

func chartsVerifyCommand(w *world) *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "compare charts/ with charts/charts.lock",
		Description: `Says whether everything that addons need is pinned, there, and what was pinned,
and whether there is nothing else. Opens no connection and needs no keys: it is
for CI.

Example:
   talosgen charts verify -o json`,
		Flags: []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			return w.charts(c, func(ctx context.Context, repo *render.Repo, _ charts.Network) ([]charts.State, error) {
				return charts.Verify(ctx, repo)
			})
		},
	}
}

func registryConfigFlag() cli.Flag {
	return &cli.StringFlag{Name: flagRegistryConfig, Usage: "a `FILE` with credentials for registries and repositories, as docker login writes it"}
}

// charts runs a command about charts, and prints what became of each.
func (w *world) charts(c *cli.Context, do func(context.Context, *render.Repo, charts.Network) ([]charts.State, error)) error {
	repo, err := w.openRepo(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	network, err := w.network(c)
	if err != nil {
		return err
	}
	states, err := do(c.Context, repo, network)
	return errors.Join(w.printCharts(c, states, err == nil), err)
}

// fetchCharts gets what a render is about to need, if it was asked to.
func (w *world) fetchCharts(c *cli.Context, repo *render.Repo) error {
	if !c.Bool(flagFetch) {
		return nil
	}
	network, err := w.network(c)
	if err != nil {
		return err
	}
	_, err = charts.Fetch(c.Context, repo, network)
	return err
}

func (w *world) printCharts(c *cli.Context, states []charts.State, complete bool) error {
	if wantsJSON(c) {
		if states == nil {
			states = []charts.State{}
		}
		return w.printJSON(states)
	}
	for _, s := range states {
		w.say("%-9s %s %s", s.State, strings.TrimSpace(s.Name+" "+s.Version), s.Digest[:12])
		if s.State == "unused" && complete {
			w.say("%s no addon uses %s; talosgen charts vendor --prune removes it", w.colour(yellow, "warning:"), s.File)
		}
		if s.State == "changed" {
			w.say("%s %s %s is not what it was: find out why, before you run it", w.colour(yellow, "warning:"), s.Name, s.Version)
		}
	}
	if len(states) == 0 && complete {
		w.say("no addon needs anything from elsewhere")
	}
	return nil
}

// network is what charts are fetched with.
func (w *world) network(c *cli.Context) (charts.Network, error) {
	credentials, err := w.chartCredentials(c.String(flagRegistryConfig))
	if err != nil {
		return charts.Network{}, err
	}
	fetcher := &charts.Fetcher{Transport: w.http, Credentials: credentials, Sleep: w.sleep, WithTimeout: context.WithTimeout}
	if w.terminal {
		fetcher.Progress = func(what string, done, total int64) {
			if done == total {
				w.say("%s: %d kB", what, done>>10)
			}
		}
	}
	return charts.Network{Fetcher: fetcher, Keep: w.keepChart}, nil
}

// chartCredentials reads the credentials of whoever runs the program. A file
// that was named has to be there.
func (w *world) chartCredentials(named string) (charts.Credentials, error) {
	all := charts.Credentials{}
	file := named
	home, _ := w.lookup("HOME")
	if file == "" {
		file = filepath.Join(home, ".docker", "config.json")
		if dir, ok := w.lookup("DOCKER_CONFIG"); ok {
			file = filepath.Join(dir, "config.json")
		}
	}
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		found, helpers, err := charts.RegistryCredentials(text)
		if err != nil {
			return nil, diag.New(diag.Pos{File: file}, "%v", err).WithCode(diag.Secrets)
		}
		if named != "" && len(helpers) > 0 {
			w.say("%s: the credentials for %s are kept by another program, which is not asked", file, strings.Join(helpers, ", "))
		}
		all.Merge(found)
	case named != "" || !errors.Is(err, fs.ErrNotExist):
		return nil, diag.New(diag.Pos{File: file}, "cannot be read: %v", err).WithCode(diag.Secrets).WithCause(err)
	}
	text, err = os.ReadFile(filepath.Join(home, ".netrc"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Pos{File: "~/.netrc"}, "cannot be read: %v", err).WithCode(diag.Secrets).WithCause(err)
	}
	all.Merge(charts.NetrcCredentials(text))
	for _, login := range all {
		w.masker.Add(login.Password)
	}
	return all, nil
}

// cacheVariable names the directory of the cache, if it is not where the system
// has caches.
const cacheVariable = "TALOSGEN_CACHE"

// chartCache is the directory of the cache of charts; empty if there is no place
// for one.
func (w *world) chartCache() string {
	if dir, _ := w.lookup(cacheVariable); dir != "" {
		return filepath.Join(dir, "charts")
	}
	if dir, _ := w.lookup("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "talosgen", "charts")
	}
	home, _ := w.lookup("HOME")
	switch {
	case home == "":
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Caches", "talosgen", "charts")
	}
	return filepath.Join(home, ".cache", "talosgen", "charts")
}

// cachedChart reads from the cache.
func (w *world) cachedChart(digest string) ([]byte, error) {
	dir := w.chartCache()
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(filepath.Join(dir, digest))
}

// keepChart writes to the cache.
func (w *world) keepChart(digest string, data []byte) error {
	dir := w.chartCache()
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the cache of charts: %w", err)
	}
	if _, err := atomicfile.Write(filepath.Join(dir, digest), data, 0o644); err != nil {
		return fmt.Errorf("the cache of charts: %w", err)
	}
	return nil
}
