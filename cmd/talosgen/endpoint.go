package main

import (
	"net/url"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
)

// endpoint is where the API is.
func (k clusters) endpoint(c *cli.Context) (string, error) {
	endpoint := c.String(flagEndpoint)
	if endpoint == "" {
		endpoint, _ = k.vars(endpointVariable)
	}
	if endpoint == "" {
		return "", nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return "", diag.On("--"+flagEndpoint, "not the URL of an API").
			WithHint("such as https://api.hetzner.cloud/v1, or what `talosgen sim` prints").WithCode(diag.Usage)
	}
	if u.Scheme == "http" && !reach.OnLoopback(endpoint) {
		return "", diag.On("--"+flagEndpoint, "the token would be sent without encryption").
			WithHint("use https:// for everything that is not on this machine").WithCode(diag.Usage)
	}
	return endpoint, nil
}
