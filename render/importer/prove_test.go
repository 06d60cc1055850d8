package importer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// newest is a small cluster.
func newest(t testing.TB) fstest.MapFS {
	t.Helper()
	c := plain(versions.Newest())
	return c.machines(t, map[string]string{"scheduling": scheduling(14)})
}

// TestADifferenceIsNotWritten: what is written was compared with the source after all,
// and one value is enough.
func TestADifferenceIsNotWritten(t *testing.T) {
	r, folder := repository(t), newest(t)
	i := &importing{ctx: context.Background(), repo: r, src: r.Repository(), env: "home"}
	origin, err := i.read(Options{From: Talosctl, Dir: folder})
	if err != nil {
		t.Fatal(err)
	}
	made, err := i.make(origin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.prove(made, origin); err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(folder["worker.yaml"].Data), "168h0m0s", "167h0m0s", 1)
	for n := range origin.Machines {
		if origin.Machines[n].Name == "worker" {
			origin.Machines[n].Config, err = machine.ReadConfig("worker.yaml", []byte(changed))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.prove(made, origin)
	if err == nil || !strings.Contains(err.Error(), "FilesystemTrimConfig interval of node worker") {
		t.Errorf("the difference is not found: %v", err)
	}
}

// TestRefused: what cannot be imported is named, and nothing is written.
func TestRefused(t *testing.T) {
	folder := newest(t)
	worker, cp := string(folder["worker.yaml"].Data), string(folder["cp.yaml"].Data)
	for name, c := range map[string]struct {
		files map[string]string
		o     Options
		want  string
	}{
		"nothing":         {nil, Options{}, "has no machine configurations"},
		"no machines":     {map[string]string{"talosconfig.yaml": "contexts: {}\n", "a.yaml": "x: 1\n"}, Options{}, "has no machine configurations"},
		"no YAML":         {map[string]string{"a.yaml": "machine: {\n"}, Options{}, "a.yaml:"},
		"unknown key":     {map[string]string{"cp.yaml": cp, "w.yaml": strings.Replace(worker, "machine:\n", "machine:\n    nonsense: canary-1\n", 1)}, Options{}, "w.yaml:"},
		"wrong type":      {map[string]string{"cp.yaml": strings.Replace(cp, "persist: true", "persist: canary-2", 1)}, Options{}, "cp.yaml:"},
		"two names":       {map[string]string{"a.yaml": strings.Replace(cp, "machine:\n", "machine:\n    network:\n        hostname: one\n", 1)}, Options{}, "a.yaml:6: Talos 1.14 moved machine.network.hostname to HostnameConfig.hostname, and refuses it beside HostnameConfig\n  nothing was written: change it in the source, and import again"},
		"no letters":      {map[string]string{"cp.yaml": cp, "\u00fc.yaml": worker}, Options{}, "\u00fc.yaml: no name for its node can be made"},
		"only workers":    {map[string]string{"w.yaml": worker}, Options{}, "no configuration is that of a control plane"},
		"other secrets":   {map[string]string{"a.yaml": cp, "b.yaml": strings.ReplaceAll(cp, "canary.canarycanary0002", "canary.canarycanary0003")}, Options{}, "b.yaml: has other secrets of a cluster than a.yaml"},
		"other token":     {map[string]string{"a.yaml": cp, "b.yaml": strings.ReplaceAll(worker, "canary.canarycanary0002", "canary.canarycanary0003")}, Options{}, "b.yaml: has another machine token than a.yaml"},
		"kind":            {map[string]string{"a.yaml": cp}, Options{From: "kubeadm"}, "not a kind of source"},
		"no such file":    {map[string]string{"a.yaml": cp}, Options{Nodes: []string{"x=b.yaml"}}, "no machine configuration of that name"},
		"no name":         {map[string]string{"a.yaml": cp}, Options{Nodes: []string{"b.yaml"}}, "not NAME=FILE"},
		"twice":           {map[string]string{"a.yaml": cp}, Options{Nodes: []string{"x=a.yaml", "x=a.yaml"}}, "is of node x"},
		"no output":       {map[string]string{"topf.yaml": "nodes: [{host: a}]\n"}, Options{From: Topf}, "run topf render in the folder"},
		"no hosts":        {map[string]string{"topf.yaml": "nodes: [a]\n", "output/a.yaml": cp}, Options{From: Topf}, "topf.yaml: has no nodes that can be read"},
		"host is missing": {map[string]string{"topf.yaml": "nodes: [{host: a}, {host: b}]\n", "output/a.yaml": cp}, Options{From: Topf}, "output/b.yaml: does not exist: it is the configuration of node b in topf.yaml"},
		"patches outside": {map[string]string{"topf.yaml": "patchesDir: ../x\nnodes: [{host: a}]\n", "output/a.yaml": cp}, Options{From: Topf}, "patchesDir is outside of the folder"},
		"address is used": {map[string]string{"a.yaml": cp}, Options{Nodes: []string{"x=a.yaml@10.0.0.1", "y=a.yaml@10.0.0.1", "z=a.yaml@10.0.0.3"}}, "a second node with the address"},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := repository(t), fstest.MapFS{}
			for file, text := range c.files {
				dir[file] = &fstest.MapFile{Data: []byte(text)}
			}
			c.o.Dir = dir
			if c.o.From == "" {
				c.o.From = Talosctl
			}
			_, err := Import(context.Background(), r, "home", c.o)
			if err == nil {
				t.Fatal("it is imported")
			}
			text := said(err)
			if !strings.Contains(text, c.want) || strings.Contains(text, "canary") {
				t.Errorf("got %s\nwant %s", text, c.want)
			}
			if entries(t, r.Root(), "envs") != "" {
				t.Error("something was written")
			}
		})
	}
}

// TestTopfNodesElsewhere: nodes that only a program lists are known by what topf made for
// them.
func TestTopfNodesElsewhere(t *testing.T) {
	folder := newest(t)
	folder["output/one.yaml"], folder["output/two.yaml"] = folder["cp.yaml"], folder["worker.yaml"]
	folder["topf.yaml"] = &fstest.MapFile{Data: []byte("nodesProvider: /bin/canary\nnodes: [{host: one, ip: 10.0.0.11}]\n")}
	r := repository(t)
	mustImport(t, r, folder, Options{From: Topf})
	if got := keysOf(rendered(t, r)); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("nodes: %v", got)
	}
}

// said is all that an error says.
func said(err error) string {
	var all diag.List
	all.AddErr(err)
	var out strings.Builder
	for _, p := range all {
		out.WriteString(p.Error() + "\n" + strings.Join(strings.Fields(p.Hint), " ") + "\n")
	}
	return out.String()
}

// TestNeverOverwrites: an environment that is there stays as it is. It is refused if it
// renders to something else, and only then: its files may look like anything.
func TestNeverOverwrites(t *testing.T) {
	const swap = "apiVersion: v1alpha1\nkind: SysctlConfig\nparams: {vm.swappiness: \"7\"}\n"
	for name, c := range map[string]struct{ file, change, want string }{
		"comment":             {"cluster.yaml", "# mine\n", ""},
		"comment of a patch":  {"patches/common.yaml", "# mine\n", ""},
		"variable":            {"cluster.env", "MINE=1\n", ""},
		"patch of no effect":  {"patches/common/a.yaml", "machine:\n  features:\n    diskQuotaSupport: true\n", ""},
		"value":               {"patches/worker/mine.yaml", swap, "SysctlConfig of node worker"},
		"patch of no machine": {"patches/extra.yaml", "# mine\n", "patches/extra.yaml"},
		"unreadable":          {"cluster.yaml", "nodes: {\n", "cluster.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			r, folder := repository(t), newest(t)
			mustImport(t, r, folder, Options{})
			file := filepath.Join(r.Root(), "envs", "home", c.file)
			had, err := os.ReadFile(file)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			mine := string(had) + c.change
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(mine), 0o644)); err != nil {
				t.Fatal(err)
			}
			report, err := Import(context.Background(), r, "home", Options{From: Talosctl, Dir: folder})
			switch {
			case c.want == "" && (err != nil || report.Written):
				t.Errorf("it renders to the same: %+v %v", report, err)
			case c.want != "" && (err == nil || !strings.Contains(said(err), c.want)):
				t.Errorf("it is not refused: %v", err)
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != mine {
				t.Errorf("the file is another one: %s %v", now, err)
			}
		})
	}
}

// TestOtherNodes: nodes that only the source or only the environment has are named.
func TestOtherNodes(t *testing.T) {
	r, folder := repository(t), newest(t)
	mustImport(t, r, folder, Options{})
	worker := folder["worker.yaml"]
	delete(folder, "worker.yaml")
	folder["second.yaml"] = worker
	_, err := Import(context.Background(), r, "home", Options{From: Talosctl, Dir: folder})
	if err == nil || !strings.Contains(err.Error(), "node second (not in the environment); node worker (only in the environment)") {
		t.Errorf("%v", err)
	}
}

// TestSharedPatchesAreUndone: what all environments of a repository share reaches an
// imported one too, and changes nothing in it.
func TestSharedPatchesAreUndone(t *testing.T) {
	r, folder := repository(t), newest(t)
	shared := "machine:\n  certSANs: [shared.example.com]\n---\napiVersion: v1alpha1\nkind: SysctlConfig\nparams: {vm.swappiness: \"1\"}\n"
	dir := filepath.Join(r.Root(), "patches", "common")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(shared), 0o644)); err != nil {
		t.Fatal(err)
	}
	etcd := filepath.Join(r.Root(), "patches", "controlplane.yaml")
	if err := os.WriteFile(etcd, []byte("cluster:\n  etcd:\n    extraArgs:\n      listen-metrics-urls: http://0.0.0.0:2381\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	report := mustImport(t, r, folder, Options{})
	plain(versions.Newest()).compare(t, rendered(t, r), folder)
	if got := tree(t, r.Root(), report); strings.Contains(got, "cluster: !replace") {
		t.Errorf("more is written than has to be:\n%s", got)
	}
}

// TestInterrupted: what was left of an import that was killed is in nobody's way, and a
// failure leaves nothing.
func TestInterrupted(t *testing.T) {
	r, folder := repository(t), newest(t)
	left := filepath.Join(r.Root(), "envs", ".home.import")
	if err := errors.Join(os.MkdirAll(filepath.Join(r.Root(), "envs", "home"), 0o755), os.MkdirAll(left, 0o755), os.WriteFile(filepath.Join(left, "cluster.yaml"), []byte("half"), 0o644)); err != nil {
		t.Fatal(err)
	}
	mustImport(t, r, folder, Options{})
	if got := entries(t, r.Root(), "envs"); got != "home" {
		t.Errorf("envs has %s", got)
	}
	res, err := r.Render(context.Background(), "home", render.Options{})
	if err != nil || len(res.Nodes) != 2 {
		t.Errorf("it does not render: %v", err)
	}
}
