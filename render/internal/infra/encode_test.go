package infra

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

// A long list is encoded part by part, and reads as if it were not.
func TestEncodeLongLists(t *testing.T) {
	for _, n := range []int{0, 1, encodedAtOnce, encodedAtOnce + 1, 3*encodedAtOnce + 7} {
		out := &schemas.Infrastructure{APIVersion: schemas.InfrastructureVersion, Cluster: "demo", Provider: schemas.Hetzner}
		for i := range n {
			out.Servers = append(out.Servers, schemas.InfraServer{Name: fmt.Sprintf("demo-worker-%d", i+1)})
		}
		out.DNSRecords = []schemas.InfraDNSRecord{{}}
		var whole bytes.Buffer
		enc := yaml.NewEncoder(&whole)
		enc.SetIndent(4)
		if err := enc.Encode(out); err != nil {
			t.Fatal(err)
		}
		got, err := Encode(out, "envs/demo/cluster.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(got), "reads it.\n"+whole.String()) {
			t.Errorf("%d servers: not as if encoded whole:\n%s", n, got)
		}
	}
}
