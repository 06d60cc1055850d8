package patchschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/internal/scaffold"
)

// compiled is the schema of a contract, ready to check documents.
func compiled(t *testing.T, minor int) *jsonschema.Schema {
	t.Helper()
	data, err := Make(minor)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("patch.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("patch.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// documents reads the documents of a file as an editor does: it knows no tag, and takes
// what has one and no value for deleted.
func documents(text string, deleted string) (docs []any, err error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var node yaml.Node
		if err := decoder.Decode(&node); err != nil {
			if err.Error() == "EOF" {
				return docs, nil
			}
			return nil, err
		}
		untag(&node, deleted)
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, err
		}
		data, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		value, err = jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		docs = append(docs, value)
	}
}

func untag(n *yaml.Node, deleted string) {
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		n.Tag = ""
		if n.Kind == yaml.ScalarNode && n.Value == "" {
			n.Tag = deleted
		}
	}
	for _, c := range n.Content {
		untag(c, deleted)
	}
}

// check checks all documents of a file.
func check(schema *jsonschema.Schema, text string) error {
	for _, deleted := range []string{"!!null", "!!str"} { // editors differ
		docs, err := documents(text, deleted)
		if err != nil {
			return err
		}
		for i, doc := range docs {
			if err := schema.Validate(doc); err != nil {
				return fmt.Errorf("document %d: %w", i+1, err)
			}
		}
	}
	return nil
}

// TestShippedPatches: every patch of this repository, also those of test cases that
// render, is fine.
func TestShippedPatches(t *testing.T) {
	schema := compiled(t, 14)
	checked := 0
	for _, root := range []string{"../../../patches", "../../../envs"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".yaml") || !strings.Contains(name, "patches") {
				return err
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			checked++
			if err := check(schema, string(data)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const least = 15
	if checked < least {
		t.Errorf("only %d patches were found", checked)
	}
}

// TestWhatIsTaken is what patches may hold that machine configurations may not.
func TestWhatIsTaken(t *testing.T) {
	schema := compiled(t, 14)
	for name, text := range map[string]string{
		"nothing":            "",
		"comments":           "# later\n",
		"replaced list":      "machine:\n  certSANs: !replace\n    - a\n",
		"emptied map":        "machine:\n  sysctls: !replace {}\n",
		"deleted key":        "machine:\n  kubelet:\n    image: !delete\n  install: !delete\n",
		"deleted number":     "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: !delete\n",
		"deleted items":      "machine:\n  certSANs:\n    - !delete a\n---\napiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: docker.io\nendpoints:\n  - !delete {url: https://a}\n  - url: https://b\n    overridePath: !delete\n",
		"deleted document":   "--- !delete\napiVersion: v1alpha1\nkind: TimeSyncConfig\n",
		"replaced document":  "--- !replace\napiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: a\n",
		"Talos' deletion":    "cluster:\n  apiServer:\n    $patch: delete\n",
		"a whole one":        "apiVersion: v1alpha1\nkind: TimeSyncConfig\n$patch: delete\n",
		"variables":          "apiVersion: v1alpha1\nkind: LinkConfig\nname: ${NAME}\nmtu: ${MTU:-1500}\nup: ${UP}\n",
		"numbers as texts":   "machine:\n  sysctls:\n    vm.max_map_count: 262144\n  nodeLabels:\n    a: true\n",
		"encrypted":          "apiVersion: v1alpha1\nkind: WireguardConfig\nname: wg0\nprivateKey: ENC[AES256_GCM,data:x,type:str]\nmtu: ENC[AES256_GCM,data:x,type:int]\nsops:\n  mac: ENC[x]\n",
		"durations":          "apiVersion: v1alpha1\nkind: TimeSyncConfig\nbootTimeout: 2m0s\n",
		"free form":          "apiVersion: v1alpha1\nkind: KubeletConfig\nconfig:\n  serializeImagePulls: false\n  any:\n    - thing: 1\n",
		"a kind to come":     "apiVersion: v1alpha1\nkind: TeleportConfig\nany: thing\n",
		"embedded fields":    "apiVersion: v1alpha1\nkind: BondConfig\nname: bond0\nlinks: [eth0]\nbondMode: 802.3ad\naddresses:\n  - address: 10.0.0.1/24\nroutes:\n  - gateway: 10.0.0.254\n",
		"nested collections": "cluster:\n  apiServer:\n    admissionControl:\n      - name: PodSecurity\n        configuration: {defaults: {enforce: baseline}}\n",
	} {
		if err := check(schema, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhatIsFound is what an editor shows as wrong, with the place.
func TestWhatIsFound(t *testing.T) {
	schema := compiled(t, 14)
	for name, c := range map[string]struct{ text, at string }{
		"mistyped section":  {"machin:\n  type: worker\n", "'machin' not allowed"},
		"mistyped key":      {"machine:\n  sysctl:\n    a: b\n", "'sysctl' not allowed"},
		"deep":              {"machine:\n  network:\n    interfaces:\n      - interface: eth0\n        dhpc: true\n", "/machine/network/interfaces/0"},
		"key of a document": {"apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtus: 1\n", "'mtus' not allowed"},
		"of another kind":   {"apiVersion: v1alpha1\nkind: VLANConfig\nvlanID: 4\nbondMode: a\n", "'bondMode' not allowed"},
		"list for a map":    {"machine:\n  sysctls:\n    - a\n", "/machine/sysctls"},
		"text for a number": {"apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: large\n", "/mtu"},
		"text for a truth":  {"apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nup: \"yes please\"\n", "/up"},
		"other version":     {"apiVersion: v1\nkind: LinkConfig\nname: eth0\n", "/apiVersion"},
		"in an item":        {"apiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: a\nendpoints:\n  - uri: https://a\n", "/endpoints/0"},
		"other deletion":    {"machine:\n  $patch: remove\n", "/machine/$patch"},
		"without a kind":    {"apiVersion: v1alpha1\nname: eth0\n", "missing property 'kind'"},
		"main in a kind":    {"apiVersion: v1alpha1\nkind: LinkConfig\nmachine: {}\n", "'machine' not allowed"},
	} {
		if err := check(schema, c.text); err == nil || !strings.Contains(err.Error(), c.at) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMoved: what another document has taken over is described so from its contract on.
func TestMoved(t *testing.T) {
	const moved = "Talos 1.14 has this in KubeletConfig.extraArgs; `talosgen convert-patch` moves it."
	for minor, want := range map[int]bool{13: false, 14: true} {
		data, err := Make(minor)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(data, []byte(moved)); got != want {
			t.Errorf("1.%d: %v", minor, got)
		}
	}
}

// TestSame: the same library gives the same bytes, as a repository keeps them.
func TestSame(t *testing.T) {
	first, err := Make(14)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if again, err := Make(14); err != nil || !bytes.Equal(first, again) {
			t.Fatalf("another schema, %v", err)
		}
	}
}

// TestGeneratedPatches: patches as strangers have them are fine.
func TestGeneratedPatches(t *testing.T) {
	schema := compiled(t, 14)
	checked := 0
	for seed := range uint64(300) {
		for name, text := range generate.New(generate.Options{Seed: seed}).Files {
			if !strings.Contains(name, "patches/") || !strings.HasSuffix(name, ".yaml") {
				continue
			}
			checked++
			if err := check(schema, text); err != nil {
				t.Errorf("seed %d, %s: %v\n%s", seed, name, err, text)
			}
		}
	}
	const least = 300
	if checked < least {
		t.Errorf("only %d patches were made", checked)
	}
}

// TestScaffoldedPatches: so are those of a new repository.
func TestScaffoldedPatches(t *testing.T) {
	schema := compiled(t, 14)
	for _, provider := range scaffold.Providers {
		for _, talos := range []string{"v1.9.0", ""} {
			files, err := scaffold.Files(scaffold.Options{
				Provider: provider, CI: "none", Env: "dev", ClusterName: "dev", TalosVersion: talos,
				AgeRecipient: "age1w6qvmm6lzg3k8prfl5ak9cwxyrc5vvw4wtk9fdl4mhh6jzyrr3fq0eduvx", TalosgenVersion: "0.1.0",
			})
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			for _, f := range files {
				if !strings.HasPrefix(f.Path, "patches/") {
					continue
				}
				checked++
				if err := check(schema, string(f.Data)); err != nil {
					t.Errorf("%s, %s: %v", provider, f.Path, err)
				}
			}
			if checked == 0 {
				t.Errorf("%s: no patches", provider)
			}
		}
	}
}
