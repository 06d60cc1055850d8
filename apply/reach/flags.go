package reach

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// ParseEndpoints reads node=address.
func ParseEndpoints(texts []string) (map[string]string, error) {
	endpoints := map[string]string{}
	for _, text := range texts {
		name, address, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, diag.On("--endpoints", "%q is not a node and its address", text).
				WithHint("such as prod-worker-1=203.0.113.7").WithCode(diag.Usage)
		}
		if err := CheckEndpoint(address); err != nil {
			return nil, err
		}
		endpoints[name] = address
	}
	return endpoints, nil
}

// ParseFingerprints reads node=fingerprint.
func ParseFingerprints(texts []string) (map[string]string, error) {
	fingerprints := map[string]string{}
	for _, text := range texts {
		name, fingerprint, ok := strings.Cut(text, "=")
		if !ok || name == "" || !schemas.IsFingerprint(fingerprint) {
			return nil, diag.On("--fingerprint", "%q is not a node and the fingerprint of its key", text).
				WithHint("such as prod-worker-1=cBoPHCpSUqN0nBwHaWuFsj2+MCnsYMvFsALAmB4pB0k=; the console of a machine in maintenance mode shows it").WithCode(diag.Usage)
		}
		fingerprints[name] = fingerprint
	}
	return fingerprints, nil
}

// CheckEndpoint refuses what talosctl would not understand.
func CheckEndpoint(text string) error {
	if _, err := netip.ParseAddr(text); err == nil {
		return nil
	}
	u, err := url.Parse("//" + text)
	if err != nil || text == "" || u.Host != text || u.Hostname() == "" {
		return diag.On("--endpoints", "%q is not the address of a node", text).
			WithHint("a name or an address, such as 203.0.113.7 or node.example.com").WithCode(diag.Usage)
	}
	return nil
}
