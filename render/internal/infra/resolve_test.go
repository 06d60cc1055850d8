package infra

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/talosgen/talosgen/render/internal/config"
)

var update = flag.Bool("update", false, "write the expected results")

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
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string][]byte{}
			for _, f := range archive.Files {
				in[f.Name] = f.Data
			}
			got := resolveCase(t, in)
			if *update {
				writeCase(t, file, archive, got)
				return
			}
			for _, name := range results {
				if got[name] != string(in[name]) {
					t.Errorf("%s: got\n%s\nwant\n%s", name, got[name], in[name])
				}
			}
		})
	}
}

var results = []string{"error.txt", "infrastructure.yaml"}

func resolveCase(t *testing.T, in map[string][]byte) map[string]string {
	t.Helper()
	out, err := Resolve(input(t, in))
	if err != nil {
		return map[string]string{"error.txt": err.Error() + "\n"}
	}
	text, err := Encode(out, testFile)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"infrastructure.yaml": string(text)}
}

func input(t *testing.T, in map[string][]byte) Input {
	t.Helper()
	c, err := config.Load(testFile, in["cluster.yaml"], nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Input{Config: c, Schematic: testSchematic, SchematicText: "customization: {}\n", HostKey: testHostKey}
	if data, ok := in["facts.yaml"]; ok {
		if r.Facts, err = config.LoadFacts(factsFile, data); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// writeCase replaces the results in a case.
func writeCase(t *testing.T, file string, archive *txtar.Archive, got map[string]string) {
	t.Helper()
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return slices.Contains(results, f.Name) })
	for _, name := range results {
		if got[name] != "" {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got[name])})
		}
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
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
