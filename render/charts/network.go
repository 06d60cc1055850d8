package charts

import (
	"github.com/talosgen/talosgen/render/internal/chartfetch"
)

// Network is what charts and manifests are fetched with. No function opens
// connections but those that take one.
type Network struct {
	*chartfetch.Fetcher
	// Keep puts something into the cache of this machine, by its digest. It may
	// be nil.
	Keep func(digest string, data []byte) error
}

// Fetcher holds the transport, credentials and clock of a [Network].
type Fetcher = chartfetch.Fetcher

// Credentials are user names and passwords by host.
type Credentials = chartfetch.Credentials

// RegistryCredentials reads the credentials of a Docker configuration. The hosts
// in helpers have theirs in another program, which is not asked.
func RegistryCredentials(text []byte) (found Credentials, helpers []string, err error) {
	return chartfetch.ParseDockerConfig(text)
}

// NetrcCredentials reads the credentials of a .netrc file.
func NetrcCredentials(text []byte) Credentials { return chartfetch.ParseNetrc(text) }

func (n Network) keep(digest string, data []byte) error {
	if n.Keep == nil {
		return nil
	}
	return n.Keep(digest, data)
}
