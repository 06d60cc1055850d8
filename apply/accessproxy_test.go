package apply

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/wayin"
	"github.com/talosgen/talosgen/schemas"
)

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
	dial := dialTargets("demo", wayin.Behind(&schemas.Infrastructure{KubernetesAPI: schemas.InfraAPI{CertSANs: []string{"api"}}}, []string{"10.0.0.1", "10.0.0.2"}), deafNode{"10.0.0.1:6443"})
	conn, err := dial(t.Context(), "api:6443")
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if _, err := dial(t.Context(), "example.com:6443"); err == nil || !strings.Contains(err.Error(), "is no API of a node of the cluster demo") {
		t.Error(err)
	}
}
