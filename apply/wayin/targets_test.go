package wayin

import (
	"slices"
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

// TestTargets: a proxy leads to the two APIs in the network of the cluster, by
// its names to its control planes, and nowhere else.
func TestTargets(t *testing.T) {
	to := Behind(&schemas.Infrastructure{
		Cluster: "demo", Network: &schemas.InfraNetwork{IPRange: "10.0.0.0/16"},
		KubernetesAPI: schemas.InfraAPI{Endpoint: "https://10.0.64.2:6443", ExternalEndpoint: "https://api.example.com:6443", CertSANs: []string{"api.internal"}},
	}, []string{"10.0.64.11", "10.0.64.12"})
	for address, want := range map[string][]string{
		"10.0.64.11:6443":        {"10.0.64.11:6443"},
		"10.0.65.11:50000":       {"10.0.65.11:50000"},
		"[::ffff:10.0.0.1]:6443": {"[::ffff:10.0.0.1]:6443"},
		"api.example.com:6443":   {"10.0.64.11:6443", "10.0.64.12:6443"},
		"api.internal:50000":     {"10.0.64.11:50000", "10.0.64.12:50000"},
		"10.0.64.11:22":          nil,
		"10.1.0.1:6443":          nil,
		"203.0.113.7:6443":       nil,
		"example.com:6443":       nil,
		"api.example.com:443":    nil,
		"10.0.64.11":             nil,
	} {
		if got := to.Of(address); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
