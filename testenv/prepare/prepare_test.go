package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/testenv/internal/cache"
)

// hello is a module with one program, which builds without a network.
var hello = cache.Module{Folder: "tools/hello", Tools: []cache.Tool{{Name: "hello", Package: "example.org/hello"}}}

// newCache lays out a checkout with the hello module, whose program says the
// given word. Its code is in a module of its own, as real tools have it.
func newCache(t *testing.T, word string) cache.Cache {
	t.Helper()

	c := cache.Cache{Root: filepath.Join(t.TempDir(), "cache"), Source: t.TempDir()}
	program := filepath.Join(c.Source, "program")

	for name, text := range map[string]string{
		filepath.Join(c.Source, "tools/hello/go.mod"): "module example.org/tools\n\ngo 1.26\n\n" +
			"require example.org/hello v0.0.0\n\nreplace example.org/hello => " + program + "\n",
		filepath.Join(c.Source, "tools/hello/go.sum"): "",
		filepath.Join(program, "go.mod"):              "module example.org/hello\n\ngo 1.26\n",
		filepath.Join(program, "main.go"):             "package main\n\nfunc main() { println(" + word + ") }\n",
	} {
		write(t, name, text)
	}

	return c
}

func write(t *testing.T, name, text string) {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// build builds the hello module and returns the progress lines.
func build(t *testing.T, c cache.Cache) string {
	t.Helper()

	var out bytes.Buffer

	b := builder{cache: c, out: &out, parallel: 2}
	if err := b.buildAll(t.Context(), []cache.Module{hello}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}

	return out.String()
}

// say runs the program that was built and returns what it says.
func say(t *testing.T, c cache.Cache) string {
	t.Helper()

	dir, err := c.Dir(hello)
	if err != nil {
		t.Fatal(err)
	}

	out, err := exec.Command(filepath.Join(dir, "hello")).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}

	return strings.TrimSpace(string(out))
}

// names are the entries of the cache folder, without locks.
func names(t *testing.T, c cache.Cache) []string {
	t.Helper()

	entries, err := os.ReadDir(c.Root)
	if err != nil {
		t.Fatal(err)
	}

	var all []string

	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".lock" {
			all = append(all, entry.Name())
		}
	}

	return all
}

func TestBuildOnce(t *testing.T) {
	c := newCache(t, `"hello"`)

	if out := build(t, c); !strings.Contains(out, "built in") {
		t.Errorf("the first run says\n%s", out)
	}

	if got := say(t, c); got != "hello" {
		t.Errorf("the program says %q", got)
	}

	if out, want := build(t, c), "[1/1] tools/hello: there\n"; out != want {
		t.Errorf("the second run says %q, want %q", out, want)
	}

	if got := names(t, c); len(got) != 1 {
		t.Errorf("the cache holds %q, want the one folder", got)
	}
}

// TestInterrupted leaves behind what a killed run leaves: a work folder, also
// of a module that has changed since, and a folder of programs that somebody
// emptied.
func TestInterrupted(t *testing.T) {
	c := newCache(t, `"again"`)

	dir, err := c.Dir(hello)
	if err != nil {
		t.Fatal(err)
	}

	write(t, filepath.Join(dir+".tmp", "bin", "hello"), "half a program")
	write(t, filepath.Join(dir, "other"), "")
	write(t, filepath.Join(c.Root, "hello-ofbefore.tmp", "bin", "hello"), "half a program")
	build(t, c)

	if got := say(t, c); got != "again" {
		t.Errorf("the program says %q", got)
	}

	if got := names(t, c); !slices.Equal(got, []string{filepath.Base(dir)}) {
		t.Errorf("the cache holds %q", got)
	}
}

// TestKilled kills a run in the middle of a build: the next one builds.
func TestKilled(t *testing.T) {
	if root := os.Getenv("PREPARE_TEST_ROOT"); root != "" {
		c := cache.Cache{Root: root, Source: os.Getenv("PREPARE_TEST_SOURCE")}
		if err := (builder{cache: c, out: os.Stdout, parallel: 2}).buildAll(t.Context(), []cache.Module{hello}); err != nil {
			t.Fatal(err)
		}

		return
	}

	c := newCache(t, `"survived"`)

	for range 5 {
		command := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		command.Env = append(os.Environ(), "PREPARE_TEST_ROOT="+c.Root, "PREPARE_TEST_SOURCE="+c.Source)

		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}

		if err := command.Start(); err != nil {
			t.Fatal(err)
		}

		// The compiler of the run before, which was killed, may still hold the
		// lock for a moment.
		said := bufio.NewReader(out)
		line, err := said.ReadString('\n')
		if line == "[1/1] tools/hello: waiting for another run\n" {
			line, err = said.ReadString('\n')
		}
		if want := "[1/1] tools/hello: hello: building\n"; line != want {
			t.Errorf("the run says %q (%v), want %q", line, err, want)
		}

		if err := command.Process.Kill(); err != nil {
			t.Fatal(err)
		}

		_ = command.Wait() // it was killed
	}

	build(t, c)

	if got := say(t, c); got != "survived" {
		t.Errorf("the program says %q", got)
	}

	if got := names(t, c); len(got) != 1 {
		t.Errorf("the cache holds %q, want the one folder", got)
	}
}

func TestFailureLeavesNothing(t *testing.T) {
	c := newCache(t, "undefinedWord")

	var out bytes.Buffer

	err := builder{cache: c, out: &out, parallel: 2}.buildAll(t.Context(), []cache.Module{hello})
	if err == nil || !strings.Contains(err.Error(), "undefined: undefinedWord") {
		t.Errorf("error %v, want what the compiler says", err)
	}

	if got := names(t, c); len(got) != 0 {
		t.Errorf("the cache holds %q", got)
	}
}

func TestTwoRunsAtOnce(t *testing.T) {
	c := newCache(t, `"both"`)
	outs := make([]bytes.Buffer, 4)
	errs := make([]error, len(outs))

	var runs sync.WaitGroup
	for i := range outs {
		runs.Go(func() {
			errs[i] = builder{cache: c, out: &outs[i], parallel: 2}.buildAll(t.Context(), []cache.Module{hello})
		})
	}

	runs.Wait()

	built := 0

	for i := range outs {
		if errs[i] != nil {
			t.Error(errs[i])
		}

		built += strings.Count(outs[i].String(), "built in")
	}

	if built != 1 {
		t.Errorf("built %d times, want once", built)
	}

	if got := say(t, c); got != "both" {
		t.Errorf("the program says %q", got)
	}
}

func TestEdits(t *testing.T) {
	edits := func(old string) string {
		return `[{"module": "example.org/hello", "add": ["edits/word.go"],
			"replace": [{"file": "main.go", "old": "` + old + `", "new": "(word)"}]}]`
	}

	tests := []struct {
		name, edits, want string
	}{
		{"applied", edits("(missing)"), ""},
		{"absent", edits("elsewhere"), `edits.json: example.org/hello: main.go has "elsewhere" 0 times, want it once`},
		{"ambiguous", edits("main"), `main.go has "main" 2 times, want it once`},
		{"no such file", strings.Replace(edits("x"), "main.go", "none.go", 1), "none.go"},
		{"no such module", `[{"module": "example.org/none"}]`, "example.org/none"},
		{"unknown key", `[{"modul": "example.org/hello"}]`, `unknown field "modul"`},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newCache(t, "missing")
			folder := filepath.Join(c.Source, "tools/hello")
			write(t, filepath.Join(folder, "edits.json"), test.edits)
			write(t, filepath.Join(folder, "edits/word.go"), "package main\n\nconst word = \"edited\"\n")

			var out bytes.Buffer

			err := builder{cache: c, out: &out, parallel: 2}.buildAll(t.Context(), []cache.Module{hello})

			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want == "" && say(t, c) != "edited":
				t.Errorf("the program says %q", say(t, c))
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestBed builds a module that has a program of its own, known by a second
// name, and files of a published module.
func TestBed(t *testing.T) {
	c := newCache(t, `"hello"`)
	write(t, filepath.Join(c.Source, "tools/hello/own/main.go"),
		"package main\n\nimport \"os\"\n\nvar version = \"none\"\n\nfunc main() { println(os.Args[0], version) }\n")
	write(t, filepath.Join(c.Source, "program/crd/one.yaml"), "kind: One\n")
	write(t, filepath.Join(c.Source, "program/crd/README.md"), "")

	bed := cache.Module{
		Folder: "tools/hello",
		Tools: []cache.Tool{
			{Name: "own", Package: "example.org/tools/own"},
			{Name: "other", Package: "example.org/hello", Alias: "own"},
		},
		Files:       []cache.Files{{Folder: "crds", Module: "example.org/hello", Glob: "crd/*.yaml"}},
		LinkerFlags: "-X main.version=v1",
	}

	var out bytes.Buffer

	b := builder{cache: c, out: &out, parallel: 2}
	if err := b.buildAll(t.Context(), []cache.Module{bed}); err != nil {
		t.Fatal(err)
	}

	dir, err := c.Dir(bed)
	if err != nil {
		t.Fatal(err)
	}

	if !cache.Ready(dir, bed) {
		t.Error("it is built, and not ready")
	}

	path := filepath.Join(dir, "other")

	said, err := exec.Command(path).CombinedOutput()
	if got, want := strings.TrimSpace(string(said)), path+" v1"; err != nil || got != want {
		t.Errorf("the program says %q (%v), want %q", got, err, want)
	}

	crds, err := os.ReadDir(filepath.Join(dir, "crds"))
	if err != nil || len(crds) != 1 || crds[0].Name() != "one.yaml" {
		t.Errorf("files %v (%v)", crds, err)
	}

	var list bytes.Buffer
	if err := printList(&list, c, []cache.Module{bed}); err != nil {
		t.Fatal(err)
	}

	if !strings.Contains(list.String(), "  is own  ") {
		t.Errorf("the list does not tell the alias:\n%s", &list)
	}

	bed.Files[0].Glob = "none/*"
	if err := b.buildAll(t.Context(), []cache.Module{bed}); err == nil || !strings.Contains(err.Error(), "has no none/*") {
		t.Errorf("error %v, want one that names the missing files", err)
	}
}

func TestChoose(t *testing.T) {
	const late = "talosnode/kubernetes-1.37" // of the nightly level

	all := []cache.Module{{Folder: "tools/one"}, {Folder: "tools/two"}, {Folder: "toolsets/three"}, {Folder: "talosnode/four"}, {Folder: late}}

	tests := []struct {
		names   string
		nightly bool
		want    string
	}{
		{"", false, "tools/one tools/two toolsets/three talosnode/four"},
		{"", true, "tools/one tools/two toolsets/three talosnode/four " + late},
		{"tools", false, "tools/one tools/two"},
		{"tools/", false, "tools/one tools/two"},
		{"tools/two toolsets", false, "tools/two toolsets/three"},
		{"talosnode", false, "talosnode/four"},
		{"talosnode", true, "talosnode/four " + late},
		{late, false, late},
		{"none", false, "error"},
		{"tools/none", false, "error"},
	}

	for _, test := range tests {
		chosen, err := choose(all, strings.Fields(test.names), test.nightly)

		var folders []string
		for _, m := range chosen {
			folders = append(folders, m.Folder)
		}

		got := strings.Join(folders, " ")
		if err != nil {
			got = "error"
		}

		if got != test.want {
			t.Errorf("choose %q, nightly %v: %s, want %s", test.names, test.nightly, got, test.want)
		}
	}
}

func TestVersion(t *testing.T) {
	goMod := []byte(`module example.org/tools

tool example.org/one/cmd/x

require example.org/alone v0.1.0

require (
	example.org/one v1.2.3 // indirect
	example.org/one/nested/v2 v2.0.0 // indirect
	example.org/on v9.9.9
)
`)

	for pkg, want := range map[string]string{
		"example.org/one/cmd/x":           "v1.2.3",
		"example.org/one/nested/v2/cmd/y": "v2.0.0",
		"example.org/alone/cmd":           "v0.1.0",
		"example.org/none/cmd":            "?",
		"example.org/one":                 "v1.2.3",
		"example.org/tools/own":           "-",
		"example.org/tools":               "-",
	} {
		if got := version(goMod, pkg); got != want {
			t.Errorf("version of %s: %s, want %s", pkg, got, want)
		}
	}
}

func TestList(t *testing.T) {
	t.Setenv(cache.Variable, t.TempDir())

	var out, progress bytes.Buffer
	if err := run(t.Context(), []string{"-list", "tools/sops"}, &out, &progress); err != nil {
		t.Fatal(err)
	}

	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[2], "sops        v3.13.3  missing  ") {
		t.Errorf("list:\n%s", &out)
	}

	if err := run(t.Context(), []string{"-list", "nothing"}, &out, &progress); err == nil {
		t.Error("listed something that does not exist")
	}
}

func TestProgress(t *testing.T) {
	var out bytes.Buffer

	p := newProgress(&out, "title")
	p.stop()

	for range tailLines {
		if _, err := p.Write([]byte("example.org/pack")); err != nil {
			t.Fatal(err)
		}

		if _, err := p.Write([]byte("age\n")); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := p.Write([]byte("# failed\nreason")); err != nil {
		t.Fatal(err)
	}

	if got, want := p.status(), "31 packages compiled, 0s"; got != want {
		t.Errorf("status %q, want %q", got, want)
	}

	if tail := p.tail(); strings.Count(tail, "example.org/package\n") != tailLines-1 || !strings.HasSuffix(tail, "# failed\nreason") {
		t.Errorf("tail %q", tail)
	}

	if got, want := out.String(), "title: building\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}
