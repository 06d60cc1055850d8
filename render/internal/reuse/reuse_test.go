package reuse

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render/internal/layer"
)

var (
	control = layer.NodeRef{Name: "c-1", Role: "controlplane", Pool: "control-plane"}
	worker  = layer.NodeRef{Name: "w-1", Role: "worker", Pool: "general"}
	other   = layer.NodeRef{Name: "w-2", Role: "worker", Pool: "general"}
	scaled  = layer.NodeRef{Name: "burst", Role: "worker", Pool: "burst"}
	all     = []layer.NodeRef{control, worker, other, scaled}
)

// sources are the files of the cases below as they were.
const sources = "envs/dev/cluster.yaml envs/dev/secrets.sops.yaml envs/dev/addons/a/values.yaml charts/c/Chart.yaml patches/addons/a/values.yaml " +
	"patches/common.yaml patches/worker/a.yaml envs/dev/patches/pools/general.yaml envs/dev/patches/nodes/w-1/a.yaml envs/dev/patches/nodes/w-1/b.yaml"

// entries reads "path" and "path=content"; the content takes the place of a digest.
func entries(text string) (all []rendered.Entry) {
	for _, field := range strings.Fields(text) {
		file, content, _ := strings.Cut(field, "=")
		all = append(all, rendered.Entry{Path: file, Digest: content})
	}
	return all
}

// edited is a list of sources without those of the same paths as in others, and with
// those; a path with a minus sign is left out.
func edited(list, others string) string {
	kept := strings.Fields(list)
	for _, field := range strings.Fields(others) {
		file, _, _ := strings.Cut(strings.TrimPrefix(field, "-"), "=")
		kept = slices.DeleteFunc(kept, func(k string) bool { return k == file || strings.HasPrefix(k, file+"=") })
		if !strings.HasPrefix(field, "-") {
			kept = append(kept, field)
		}
	}
	slices.Sort(kept)
	return strings.Join(kept, " ")
}

// what lists the parts that need not be made again.
func what(t *testing.T, was, is string, addonPaths ...string) string {
	t.Helper()
	s := Sources{Env: "dev", Was: entries(was), Is: entries(is), Nodes: all, AddonPaths: addonPaths}
	var paths []string
	for _, e := range s.Is {
		paths = append(paths, e.Path)
	}
	var err error
	if s.Layers, err = layer.Arrange(paths, "dev", all); err != nil {
		t.Fatal(err)
	}
	p := Compare(s)
	var same []string
	for _, n := range all {
		if p.Node(n) {
			same = append(same, n.Name)
		}
	}
	if p.Addons(nil) {
		same = append(same, "addons")
	}
	if p.Addons([]layer.NodeRef{scaled}) {
		same = append(same, "addons+scaled")
	}
	return strings.Join(same, " ")
}

// TestSame names the parts whose sources are the same after a change.
func TestSame(t *testing.T) {
	const everything = "c-1 w-1 w-2 burst addons addons+scaled"
	for name, tt := range map[string]struct{ change, want string }{
		"nothing":                    {"", everything},
		"cluster.yaml":               {"envs/dev/cluster.yaml=2", ""},
		"secrets":                    {"envs/dev/secrets.sops.yaml=2", ""},
		"a new file of the env":      {"envs/dev/cluster.env=1", ""},
		"no file of the env":         {"-envs/dev/secrets.sops.yaml", ""},
		"a common patch":             {"patches/common.yaml=2", "addons"},
		"a patch of workers":         {"patches/worker/a.yaml=2", "c-1 addons"},
		"a pool":                     {"envs/dev/patches/pools/general.yaml=2", "c-1 burst addons addons+scaled"},
		"a node":                     {"envs/dev/patches/nodes/w-1/b.yaml=2", "c-1 w-2 burst addons addons+scaled"},
		"a node, added":              {"envs/dev/patches/nodes/w-2.yaml=1", "c-1 w-1 burst addons addons+scaled"},
		"a node, removed":            {"-envs/dev/patches/nodes/w-1/a.yaml", "c-1 w-2 burst addons addons+scaled"},
		"a node, renamed":            {"-envs/dev/patches/nodes/w-1/a.yaml envs/dev/patches/nodes/w-1/c.yaml", "c-1 w-2 burst addons addons+scaled"},
		"moved from node to node":    {"-envs/dev/patches/nodes/w-1/a.yaml envs/dev/patches/nodes/w-2/a.yaml", "c-1 burst addons addons+scaled"},
		"the environment's controls": {"envs/dev/patches/controlplane.yaml", "w-1 w-2 burst addons addons+scaled"},
		"values":                     {"envs/dev/addons/a/values.yaml=2", "c-1 w-1 w-2 burst"},
		"shared values":              {"patches/addons/a/values.yaml=2", "c-1 w-1 w-2 burst"},
		"a chart":                    {"charts/c/Chart.yaml=2", "c-1 w-1 w-2 burst"},
		"a chart, removed":           {"-charts/c/Chart.yaml", "c-1 w-1 w-2 burst"},
		"a node and a chart":         {"charts/c/Chart.yaml=2 envs/dev/patches/nodes/w-2.yaml=1", "c-1 w-1 burst"},
	} {
		if got := what(t, sources, edited(sources, tt.change)); got != tt.want {
			t.Errorf("%s: the same are %q, want %q", name, got, tt.want)
		}
	}
}

// TestNotClosed makes addons again with any change if they may be made of files
// elsewhere.
func TestNotClosed(t *testing.T) {
	changed := edited(sources, "envs/dev/patches/nodes/w-1/b.yaml=2")
	if got := what(t, sources, changed, "charts/c", "envs/dev/addons/a/chart"); !strings.Contains(got, "addons") {
		t.Errorf("places of addons count as others: %q", got)
	}
	for _, at := range []string{"envs/dev/patches", "charts/../envs/dev", "envs/dev/addons"} {
		if got := what(t, sources, changed, at); strings.Contains(got, "addons") {
			t.Errorf("%s: the same are %q", at, got)
		}
	}
	const kustomization = " envs/dev/kustomization.yaml"
	if got := what(t, sources+kustomization, changed+kustomization); strings.Contains(got, "addons") {
		t.Errorf("with a kustomization above: %q", got)
	}
	const patch = " patches/worker/kustomization.yaml"
	if got := what(t, sources+patch, sources); strings.Contains(got, "addons") {
		t.Errorf("with a kustomization that is gone: %q", got)
	}
}

// TestBefore keeps nothing if the last sources could not have been rendered.
func TestBefore(t *testing.T) {
	if got := what(t, sources+" envs/dev/patches/nodes/w-9.yaml", sources); got != "" {
		t.Errorf("the same are %q", got)
	}
}
