package apply

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/schemas"
)

// A kubelet says where its node is: it cannot send an upgrade to another node, nor to
// nowhere.
func TestAddressOfAutoscaled(t *testing.T) {
	w := upgradeWay{cluster: &nodes.Cluster{Machines: []nodes.Machine{{Name: "new"}, {Name: "cp-1", Address: "10.0.0.1:50000"}}}, infra: &schemas.Infrastructure{}}
	for address, want := range map[string]string{
		"10.0.0.1": "node burst-1: its kubelet names the address of cp-1",
		"":         "node burst-1: its kubelet names no address that leads to it",
	} {
		if _, err := w.autoscaled(kube.Node{Name: "burst-1", Internal: address}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", address, err)
		}
	}
}
