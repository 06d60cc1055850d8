package running

import (
	"context"
	"net/http"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/readonly"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/secret"
)

// Project is a project of Hetzner Cloud.
type Project struct {
	Endpoint string // empty for Hetzner's own
	Token    secret.String
	HTTP     http.RoundTripper
	Version  string // of talosgen
	Clock    cloud.Clock
	Rand     func() float64
}

// Survey reads what clusters consist of in a project, whoever it belongs to. Nothing but
// reading requests are sent, and one that fails is an error.
func Survey(ctx context.Context, p Project) (cloudplan.Observed, error) {
	return cloud.New(cloud.Options{
		Endpoint: p.Endpoint, Token: p.Token, HTTP: readonly.Transport{Next: p.HTTP}, Version: p.Version, Clock: p.Clock, Rand: p.Rand,
	}).Survey(ctx)
}
