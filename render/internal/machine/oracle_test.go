package machine

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// oracleMeta says how a case of testdata/oracle is run, and what is expected
// of talosctl and of talosgen.
type oracleMeta struct {
	Contract    string `yaml:"contract"`
	Role        Role   `yaml:"role"`
	InstallDisk string `yaml:"installDisk"`
	Fails       bool   `yaml:"fails"` // talosctl refuses
	Error       string `yaml:"error"` // a part of what it says then
	// Talosgen says where it differs on purpose:
	//   refuses  an error where talosctl ignores something without a word
	//   warns    the same result as talosctl's, with a warning
	//   accepts  talosctl refuses, talosgen does not
	Talosgen string `yaml:"talosgen"`
	Message  string `yaml:"message"` // a part of talosgen's error or warning
	// Talosctl is the only release to compare with, if one fails in a way that
	// the next does not: "1.14".
	Talosctl string `yaml:"talosctl"`
}

type oracleCase struct {
	name   string
	meta   oracleMeta
	layers [][]byte
	// restore is what talosctl has to be given in addition, because its merge
	// loses values that no layer mentions and talosgen's keeps.
	restore []byte
}

func oracleCases(t *testing.T) []oracleCase {
	t.Helper()
	files, err := filepath.Glob("testdata/oracle/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var cases []oracleCase
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := oracleCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar")}
		for _, f := range archive.Files {
			switch f.Name {
			case "meta.yaml":
				dec := yaml.NewDecoder(bytes.NewReader(f.Data))
				dec.KnownFields(true)
				if err := dec.Decode(&c.meta); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			case "restore.yaml":
				c.restore = f.Data
			default:
				c.layers = append(c.layers, f.Data)
			}
		}
		cases = append(cases, c)
	}
	if len(cases) < 60 {
		t.Fatalf("testdata/oracle has %d cases; 60 is the least", len(cases))
	}
	return cases
}

// TestOracle compares what talosgen makes of layers with what the real talosctl
// makes of them, for a corpus of patches that covers every rule of the merge
// and every kind of document.
func TestOracle(t *testing.T) {
	bundle, other := bundles(t)
	o := newOracle(t, bundle)
	for _, c := range oracleCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := oracleSettings(c.meta)
			base, err := Generate(s, c.meta.Role, bundle, other)
			if err != nil {
				t.Fatal(err)
			}
			ours, warned, ourErr := runLayers(base, c.layers)
			c.checkTalosgen(t, warned, ourErr)
			releases := []string{"1.13", "1.14"}
			switch {
			case c.meta.Talosctl != "":
				releases = []string{c.meta.Talosctl}
			case s.Contract == "v1.14" || c.needsNewKinds():
				releases = []string{"1.14"}
			}
			for _, release := range releases {
				theirs, theirErr := o.run(t, release, s, c)
				if c.meta.Fails != (theirErr != "") {
					t.Fatalf("talosctl %s: fails = %q, the case says %v", release, theirErr, c.meta.Fails)
				}
				if release == "1.14" && !strings.Contains(theirErr, c.meta.Error) {
					t.Errorf("talosctl %s says %q, not %q", release, theirErr, c.meta.Error)
				}
				if ourErr == nil && theirErr == "" {
					compareDocuments(t, release, theirs, []byte(textOf(t, ours)))
				}
			}
		})
	}
}

// checkTalosgen checks whether talosgen fails or warns as the case says.
func (c oracleCase) checkTalosgen(t *testing.T, warned string, err error) {
	t.Helper()
	fails := c.meta.Fails
	switch c.meta.Talosgen {
	case "":
	case "accepts":
		fails = false
	case "refuses":
		fails = true
	case "warns":
		if warned == "" {
			t.Error("talosgen does not warn")
		}
	default:
		t.Fatalf("talosgen: %s is unknown", c.meta.Talosgen)
	}
	if fails != (err != nil) {
		t.Fatalf("talosgen: %v; the case wants a failure: %v", err, fails)
	}
	if err != nil {
		warned = err.Error()
	}
	if !strings.Contains(warned, c.meta.Message) {
		t.Errorf("talosgen says\n%s\nnot %q", warned, c.meta.Message)
	}
}

// needsNewKinds reports whether the layers hold documents that came with 1.14.
func (c oracleCase) needsNewKinds() bool {
	return strings.HasPrefix(c.name, "v1-14-")
}

func runLayers(base *Config, layers [][]byte) (cfg *Config, warned string, err error) {
	var patches []*Patch
	for i, data := range layers {
		// Variables are talosgen's; the cases are written for Talos.
		data = bytes.ReplaceAll(data, []byte("${"), []byte("$${"))
		p, err := LoadPatch(Source{File: string(rune('1'+i)) + ".yaml", Data: data}, LoadOptions{})
		if err != nil {
			return nil, "", err
		}
		patches = append(patches, p)
	}
	cfg, warnings, err := base.Apply(patches)
	if len(warnings) > 0 {
		warned = warnings.Error()
	}
	return cfg, warned, err
}

func oracleSettings(m oracleMeta) Settings {
	s := testSettings(m.Contract)
	s.InstallDisk = m.InstallDisk
	return s
}

// oracle runs talosctl.
type oracle struct {
	dir  string
	mu   sync.Mutex
	base map[string]func() error // by release and settings: generates, once
}

func newOracle(t *testing.T, bundle *Bundle) *oracle {
	t.Helper()
	toolenv.Talosctl(t, "1.13") // skip before, not in, the cases
	toolenv.Talosctl(t, "1.14")
	o := &oracle{dir: t.TempDir(), base: map[string]func() error{}}
	text, err := bundle.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.dir, "secrets.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return o
}

// generated returns the file with talosctl's base configuration.
func (o *oracle) generated(t *testing.T, release string, s Settings, role Role) string {
	t.Helper()
	name := strings.Join([]string{release, s.Contract, strings.ReplaceAll(s.InstallDisk, "/", ""), string(role)}, "-")
	file := filepath.Join(o.dir, name+".yaml")
	o.mu.Lock()
	generate := o.base[name]
	if generate == nil {
		generate = sync.OnceValue(func() error {
			out, err := exec.Command(toolenv.Talosctl(t, release), "gen", "config", s.ClusterName, s.Endpoint,
				"--with-secrets", filepath.Join(o.dir, "secrets.yaml"), "--talos-version", s.Contract,
				"--kubernetes-version", s.KubernetesVersion, "--install-disk", s.InstallDisk, "--install-image", s.InstallImage,
				"--with-docs=false", "--with-examples=false", "--output-types", string(role), "--output", file).CombinedOutput()
			if err != nil {
				t.Errorf("talosctl %s gen config: %s", release, out)
			}
			return err
		})
		o.base[name] = generate
	}
	o.mu.Unlock()
	if generate() != nil {
		t.FailNow()
	}
	return file
}

// run has talosctl apply the layers; failure is what it says if it refuses.
func (o *oracle) run(t *testing.T, release string, s Settings, c oracleCase) (result []byte, failure string) {
	t.Helper()
	args := []string{"machineconfig", "patch", o.generated(t, release, s, c.meta.Role)}
	layers := c.layers
	if c.restore != nil {
		layers = append(slices.Clone(layers), c.restore)
	}
	dir := t.TempDir()
	for i, layer := range layers {
		file := filepath.Join(dir, string(rune('1'+i))+".yaml")
		if err := os.WriteFile(file, layer, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--patch", "@"+file)
	}
	cmd := exec.Command(toolenv.Talosctl(t, release), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, strings.TrimSpace(errs.String()) + " (" + err.Error() + ")"
	}
	return out.Bytes(), ""
}

// compareDocuments compares configurations by their documents and values.
func compareDocuments(t *testing.T, release string, theirs, ours []byte) {
	t.Helper()
	want, have := decodeDocuments(t, theirs), decodeDocuments(t, ours)
	for id := range want {
		if _, ok := have[id]; !ok {
			t.Errorf("talosctl %s makes %s, talosgen does not", release, id)
		}
	}
	for id, doc := range have {
		theirs, ok := want[id]
		if !ok {
			t.Errorf("talosgen makes %s, talosctl %s does not", id, release)
			continue
		}
		compareValues(t, release, id.String(), theirs, doc)
	}
}

func decodeDocuments(t *testing.T, file []byte) map[ID]any {
	t.Helper()
	nodes, err := parseDocuments("result", file)
	if err != nil {
		t.Fatal(err)
	}
	docs := map[ID]any{}
	for _, n := range nodes {
		var value any
		if err := n.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if _, twice := docs[idOf(n)]; twice {
			t.Fatalf("%s is there twice", idOf(n))
		}
		docs[idOf(n)] = value
	}
	return docs
}

func compareValues(t *testing.T, release, path string, theirs, ours any) {
	t.Helper()
	a, isMap := theirs.(map[string]any)
	b, isMapToo := ours.(map[string]any)
	if !isMap || !isMapToo {
		if !reflect.DeepEqual(theirs, ours) {
			t.Errorf("%s: talosctl %s makes %#v, talosgen %#v", path, release, theirs, ours)
		}
		return
	}
	for key := range a {
		if _, ok := b[key]; !ok {
			t.Errorf("%s.%s: talosctl %s makes %#v, talosgen nothing", path, key, release, a[key])
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			t.Errorf("%s.%s: talosgen makes %#v, talosctl %s nothing", path, key, b[key], release)
			continue
		}
		compareValues(t, release, path+"."+key, a[key], b[key])
	}
}
