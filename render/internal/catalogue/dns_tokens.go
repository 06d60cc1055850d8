package catalogue

import (
	"github.com/talosgen/talosgen/schemas"
)

// Variables with the tokens of those who keep zones. Hetzner's may be that of
// another project than the cluster's, so that a token in a pod reaches zones alone.
const (
	hetznerDNSToken = "HETZNER_DNS_TOKEN"
	cloudflareToken = "CLOUDFLARE_API_TOKEN"
)

// dnsSecret is the name of the Secrets with such a token, and of those of each
// provider.
const dnsSecret = "dns"

// needDNSToken is the need of what changes a zone at a provider, asked for by an
// option; none for what proves names otherwise.
func needDNSToken(provider, option string) []Need {
	switch provider {
	case schemas.HetznerDNS:
		return []Need{{Name: hetznerDNSToken, Option: option, What: "a token of the project at Hetzner that the zone is in, which may read and write", Shape: tokenShape}}
	case schemas.Cloudflare:
		return []Need{{Name: cloudflareToken, Option: option, What: "an API token of Cloudflare that may edit the DNS of the zone", Shape: tokenShape}}
	}
	return nil
}

// dnsToken is the token for a provider.
func (f web) dnsToken(provider string) string {
	variable := map[string]string{schemas.HetznerDNS: hetznerDNSToken, schemas.Cloudflare: cloudflareToken}[provider]
	return f.Secrets[variable].Reveal()
}

// dnsTokenObject is a Secret with it.
func (f web) dnsTokenObject(namespace, provider string) object {
	return secretObject(namespace, dnsSecret+"-"+provider, map[string]string{tokenKey: f.dnsToken(provider)})
}
