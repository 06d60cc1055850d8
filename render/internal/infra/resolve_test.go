package infra

import (
	"testing"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/schemas"
)

const (
	testFile  = "envs/prod/cluster.yaml"
	factsFile = "envs/prod/facts.yaml"
	// What the tests do not choose themselves.
	testSchematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
	testHostKey   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHRlc3QgdGVzdCB0ZXN0IHRlc3QgdGVzdCB0ZXN0"
)

// TestResolve runs testdata/*.txtar: cluster.yaml, and facts.yaml if the case
// has it, give infrastructure.yaml or error.txt.
func TestResolve(t *testing.T) {
	casetest.Run(t, "testdata/*.txtar", results, resolveCase)
}

var results = []string{"error.txt", "infrastructure.yaml"}

func resolveCase(t *testing.T, in casetest.Case) map[string]string {
	t.Helper()
	out, err := Resolve(input(t, in.Texts))
	if err != nil {
		return map[string]string{"error.txt": err.Error() + "\n"}
	}
	text, err := Encode(out, testFile)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"infrastructure.yaml": string(text)}
}

// schematic is the plain one, whose id the Image Factory gives to all.
func schematic(schemas.NodeImage) (id, text string) { return testSchematic, "customization: {}\n" }

func input(t *testing.T, in map[string]string) Input {
	t.Helper()
	c, err := config.Load(testFile, config.Files{testFile: []byte(in["cluster.yaml"])}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Input{Config: c, Schematic: schematic, HostKey: testHostKey}
	if data, ok := in["facts.yaml"]; ok {
		if r.Facts, err = config.LoadFacts(factsFile, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// With ten servers in each, no shard takes more than Hetzner allows.
func TestShardsHoldTen(t *testing.T) {
	members := map[int]int{}
	for i := range 95 {
		members[shard(i+1)]++
	}
	for n, count := range members {
		if count > maxGroupMembers {
			t.Errorf("shard %d has %d servers", n, count)
		}
	}
	if len(members) != 10 {
		t.Errorf("%d shards for 95 servers", len(members))
	}
}
