package main

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/charts"
)

// chartNetwork fetches charts, with the credentials that flags and files name.
type chartNetwork struct {
	vars  environ
	out   *console
	http  http.RoundTripper
	clock clock
	cache chartCache
}

// fetch gets what a render is about to need, if it was asked to.
func (n chartNetwork) fetch(c *cli.Context, repo *render.Repo) error {
	if !c.Bool(flagFetch) {
		return nil
	}
	network, err := n.open(c)
	if err != nil {
		return err
	}
	_, err = charts.Fetch(c.Context, repo, network)
	return err
}

// open is what charts are fetched with.
func (n chartNetwork) open(c *cli.Context) (charts.Network, error) {
	credentials, err := n.credentials(c.String(flagRegistryConfig))
	if err != nil {
		return charts.Network{}, err
	}
	fetcher := &charts.Fetcher{Transport: n.http, Credentials: credentials, Sleep: n.clock.sleep, WithTimeout: context.WithTimeout}
	if n.out.terminal {
		fetcher.Progress = func(what string, done, total int64) {
			if done == total {
				n.out.say("%s: %d kB", what, done>>10)
			}
		}
	}
	return charts.Network{Fetcher: fetcher, Keep: n.cache.keep}, nil
}

// credentials reads the credentials of the user. A file
// that was named has to be there.
func (n chartNetwork) credentials(named string) (charts.Credentials, error) {
	all := charts.Credentials{}
	file := named
	home, _ := n.vars("HOME")
	if file == "" {
		file = filepath.Join(home, ".docker", "config.json")
		if dir, ok := n.vars("DOCKER_CONFIG"); ok {
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
			n.out.say("%s: credential helpers are not supported, so there are no credentials for %s", file, strings.Join(helpers, ", "))
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
		n.out.masker.Add(login.Password)
	}
	return all, nil
}
