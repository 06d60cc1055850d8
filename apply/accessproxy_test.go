package apply

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

// TestProxyTargets: a proxy leads to the two APIs in the network of the cluster, by
// its names to its control planes, and nowhere else.
func TestProxyTargets(t *testing.T) {
	to := proxyTo(&schemas.Infrastructure{
		Cluster: "demo", Network: &schemas.InfraNetwork{IPRange: "10.0.0.0/16"},
		KubernetesAPI: schemas.InfraAPI{Endpoint: "https://10.0.64.2:6443", ExternalEndpoint: "https://api.example.com:6443", CertSANs: []string{"api.internal"}},
		Servers: []schemas.InfraServer{
			{Name: "cp-1", Role: "controlplane", PrivateIP: "10.0.64.11"}, {Name: "cp-2", Role: "controlplane", PrivateIP: "10.0.64.12"},
			{Name: "w-1", Role: "worker", PrivateIP: "10.0.65.11"},
		},
	})
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
		if got := to.of(address); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// deafNode is a way on which one address does not answer.
type deafNode struct{ silent string }

// Dial connects to any other.
func (d deafNode) Dial(_ context.Context, address string) (net.Conn, error) {
	if address == d.silent {
		return nil, errors.New("is silent")
	}
	here, _ := net.Pipe()
	return here, nil
}

// TestProxyTriesControlPlanes: a name leads to the next control plane if the first is
// silent, and what is refused says of which cluster.
func TestProxyTriesControlPlanes(t *testing.T) {
	dial := proxyTargets{cluster: "demo", names: []string{"api"}, controlPlanes: []string{"10.0.0.1", "10.0.0.2"}}.dialer(deafNode{"10.0.0.1:6443"})
	conn, err := dial(t.Context(), "api:6443")
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if _, err := dial(t.Context(), "example.com:6443"); err == nil || !strings.Contains(err.Error(), "is no API of a node of the cluster demo") {
		t.Error(err)
	}
}
