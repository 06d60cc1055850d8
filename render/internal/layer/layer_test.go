package layer

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

var testNodes = []NodeRef{
	{"dev-control-plane-1", "controlplane", "control-plane"},
	{"dev-worker-1-1", "worker", "worker-1"},
	{"dev-worker-1-2", "worker", "worker-1"},
}

func mapFS(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys[f] = &fstest.MapFile{}
	}
	return fsys
}

// TestArrange runs testdata/*.txtar: the paths in the comment, in environment
// dev with testNodes (only the control plane if the name begins with
// "no_workers"), give the layers of each node in layers.txt, or error.txt.
func TestArrange(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range cases {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			nodes := testNodes
			if strings.HasPrefix(name, "no_workers") {
				nodes = nodes[:1]
			}
			fsys := mapFS("envs/dev/cluster.yaml")
			for _, f := range strings.Fields(string(archive.Comment)) {
				if strings.Contains(f, "/") {
					fsys[f] = &fstest.MapFile{}
				}
			}
			files, _, err := Inputs(fsys, "dev")
			var layers *Layers
			if err == nil {
				layers, err = Arrange(files, "dev", nodes)
			}
			got := map[string]string{}
			if err != nil {
				got["error.txt"] = err.Error() + "\n"
			} else {
				got["layers.txt"] = describe(layers, nodes)
			}
			for _, want := range archive.Files {
				if got[want.Name] != string(want.Data) {
					t.Errorf("%s: got\n%s%v\nwant\n%s", want.Name, got[want.Name], err, want.Data)
				}
			}
		})
	}
}

func describe(layers *Layers, nodes []NodeRef) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintln(&b, n.Name)
		for _, l := range layers.For(n) {
			fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("  %s %s %s", l.Scope, l.Kind, l.Target), " "))
			for _, f := range l.Files {
				fmt.Fprintln(&b, "    "+f)
			}
		}
	}
	return b.String()
}

// TestOrderIsTotal checks the order of precedence for random sets of files,
// listed in random order.
func TestOrderIsTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	node := testNodes[1]
	places := []string{
		"patches/common", "patches/worker", "envs/dev/patches/common", "envs/dev/patches/worker",
		"envs/dev/patches/pools/worker-1", "envs/dev/patches/nodes/dev-worker-1-1",
	}
	for range 200 {
		var want []string // in the documented order
		for _, place := range places {
			for _, name := range []string{".sops.yaml", ".yaml", "/01.yaml", "/10.sops.yaml", "/10.yaml", "/9.yaml", "/Z.yaml", "/a.yaml"} {
				if r.IntN(3) == 0 {
					want = append(want, place+name)
				}
			}
		}
		inputs := slices.Clone(want)
		r.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		layers, err := Arrange(inputs, "dev", testNodes)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range layers.For(node) {
			got = append(got, l.Files...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestInputs(t *testing.T) {
	fsys := mapFS(
		"envs/dev/cluster.yaml", "envs/dev/cluster.env", "envs/dev/patches/common/a.yaml",
		"envs/dev/addons/x/README.md", "envs/dev/.hidden", "envs/dev/cluster.yaml~", "envs/dev/#cluster.yaml#",
		"envs/dev/.#cluster.yaml", "envs/dev/patches/README.md", "envs/dev/patches/nodes/n/notes.md",
		"envs/device/cluster.yaml", "envs/prod/cluster.yaml",
		"patches/common/a.yaml", "patches/common-b.yaml", "patches/README", "patches/addons/x/README.md",
		"charts/web/Chart.yaml", "charts/web/.helmignore", "charts/web/.git/Chart.yaml", "charts/.helmignore", "patches/common/.helmignore",
		"patches/.git/config", "charts/x.tgz", "charts/charts.lock", "rendered/dev/nodes/n.yaml", "main.go",
	)
	got, _, err := Inputs(fsys, "dev")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"charts/charts.lock", "charts/web/.helmignore", "charts/web/Chart.yaml", "charts/x.tgz",
		"envs/dev/addons/x/README.md", "envs/dev/cluster.env", "envs/dev/cluster.yaml", "envs/dev/patches/common/a.yaml",
		"patches/addons/x/README.md", "patches/common-b.yaml", "patches/common/a.yaml",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestInputsOfUnknownEnvironment(t *testing.T) {
	fsys := mapFS("envs/dev/cluster.yaml", "envs/prod/cluster.yaml", "envs/README.md")
	for env, want := range map[string]string{
		"prd":     "envs/prd: environment \"prd\" does not exist\n  did you mean \"prod\"?",
		"staging": "envs/staging: environment \"staging\" does not exist\n  environments: dev, prod",
		"..":      "environment \"..\" does not exist",
		"dev/x":   "environment \"dev/x\" does not exist",
		"":        "environment \"\" does not exist",
	} {
		_, _, err := Inputs(fsys, env)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", env, err, want)
		}
	}
	if _, _, err := Inputs(mapFS("go.mod"), "dev"); err == nil || !strings.Contains(err.Error(), "talosgen init") {
		t.Errorf("without envs: %v", err)
	}
}

func TestLinks(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	for _, f := range []string{
		filepath.Join(outside, "x.yaml"), filepath.Join(root, "envs/dev/cluster.yaml"),
		filepath.Join(root, "lib/a.yaml"), filepath.Join(root, "patches/common/plain.yaml"),
	} {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}

	link("../lib", "patches/worker")
	link("../../lib/a.yaml", "patches/common/linked.yaml")
	got, _, err := Inputs(r.FS(), "dev")
	want := []string{"envs/dev/cluster.yaml", "patches/common/linked.yaml", "patches/common/plain.yaml", "patches/worker/a.yaml"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}

	if err := os.MkdirAll(filepath.Join(root, "charts/web"), 0o755); err != nil {
		t.Fatal(err)
	}
	link("nowhere", "charts/web/values.yaml")
	got, broken, err := Inputs(r.FS(), "dev")
	if err != nil || !slices.Equal(got, want) || len(broken) != 1 || !strings.HasPrefix(broken[0].Error(), "charts/web/values.yaml: the link cannot be followed: ") {
		t.Errorf("with a broken link of a chart: %q, %v, %v; want %q", got, broken, err, want)
	}

	link(".", "lib/circle")
	link(filepath.Join(outside, "x.yaml"), "patches/common/out.yaml")
	link("nowhere", "patches/common/broken.yaml")
	_, _, err = Inputs(r.FS(), "dev")
	for _, want := range []string{
		"patches/common/broken.yaml: the link cannot be followed: ",
		"patches/common/out.yaml: the link cannot be followed: ",
		"patches/worker/circle: a link to a directory, inside a linked directory",
		"3 problems",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestUnreadableAndIrregular(t *testing.T) {
	fsys := mapFS("envs/dev/cluster.yaml", "patches")
	fsys["charts/socket"] = &fstest.MapFile{Mode: fs.ModeSocket}
	_, _, err := Inputs(fsys, "dev")
	for _, want := range []string{"patches: the directory cannot be read", "charts/socket: neither a file nor a directory"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// bigRepository writes 1000 nodes with three patches each.
func bigRepository(b *testing.B) (fs.FS, []NodeRef) {
	root := b.TempDir()
	write := func(file string) {
		file = filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write("envs/dev/cluster.yaml")
	write("patches/common/a.yaml")
	var nodes []NodeRef
	for i := range 1000 {
		n := NodeRef{fmt.Sprintf("dev-worker-%d", i+1), "worker", "worker"}
		nodes = append(nodes, n)
		for j := range 3 {
			write(fmt.Sprintf("envs/dev/patches/nodes/%s/%d.yaml", n.Name, j))
		}
	}
	return os.DirFS(root), nodes
}

func BenchmarkInputs(b *testing.B) {
	fsys, _ := bigRepository(b)
	for b.Loop() {
		if _, _, err := Inputs(fsys, "dev"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkArrange(b *testing.B) {
	fsys, nodes := bigRepository(b)
	inputs, _, err := Inputs(fsys, "dev")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Arrange(inputs, "dev", nodes); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInputsThroughRoot(b *testing.B) {
	fsys, _ := bigRepository(b)
	root, err := os.OpenRoot(fmt.Sprint(fsys))
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	for b.Loop() {
		if _, _, err := Inputs(root.FS(), "dev"); err != nil {
			b.Fatal(err)
		}
	}
}
