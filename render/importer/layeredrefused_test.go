package importer

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
)

// layeredFolder is a small folder of layers.
func layeredFolder(changes map[string]string) fstest.MapFS {
	folder := fstest.MapFS{}
	for name, text := range map[string]string{
		"cluster.env":               "CLUSTER_NAME=attic\nCLUSTER_ENDPOINT=https://10.0.0.10:6443\nTALOS_VERSION=v1.13.9\n",
		"secrets.yaml":              parts()["bundle.yaml"],
		"patches/common.yaml":       "machine:\n  sysctls:\n    vm.swappiness: \"10\"\n",
		"patches/controlplane.yaml": "cluster:\n  allowSchedulingOnControlPlanes: true\n",
		"patches/nodes/cp-1.yaml":   "machine:\n  sysctls:\n    vm.nr_hugepages: \"8\"\n",
	} {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range changes {
		if text == "" {
			delete(folder, name)
		} else {
			folder[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return folder
}

// TestLayeredRefused: what cannot be carried over is named with its place, and nothing
// is written.
func TestLayeredRefused(t *testing.T) {
	const env = "CLUSTER_NAME=attic\nCLUSTER_ENDPOINT=https://10.0.0.10:6443\nTALOS_VERSION=v1.13.9\n"
	for name, c := range map[string]struct {
		changes map[string]string
		nodes   []string
		want    []string
	}{
		"undefined variable": {map[string]string{"patches/common.yaml": "machine:\n  sysctls:\n    a: ${NOPE}\n    b: $HOME\n"}, nil, []string{
			"patches/common.yaml:3:8: variable NOPE has no value in cluster.env", "patches/common.yaml:4:8: variable HOME has no value"}},
		"form of variable": {map[string]string{"patches/common.yaml": "machine:\n  sysctls:\n    a: ${TALOS_VERSION%.*}\n    b: $${TALOS_VERSION}\n"}, nil, []string{
			"patches/common.yaml:3:8: ${TALOS_VERSION%.*} is a form of variable", "patches/common.yaml:4:8: $${TALOS_VERSION} is a form"}},
		"template":          {map[string]string{"patches/nodes/cp-1.yaml": "# a\nmachine:\n  x: {{ .node }}\n"}, nil, []string{"patches/nodes/cp-1.yaml:3: {{ is for a program"}},
		"no YAML":           {map[string]string{"patches/common.yaml": "machine: {\n"}, nil, []string{"patches/common.yaml:"}},
		"JSON patch":        {map[string]string{"patches/common.yaml": "- op: add\n  path: /machine/token\n  value: canary-3\n"}, nil, []string{"patches/common.yaml:1:1"}},
		"wrong type":        {map[string]string{"patches/common.yaml": "machine:\n  sysctls: canary-4\n"}, nil, []string{"patches/common.yaml:"}},
		"command":           {map[string]string{"cluster.env": env + "A=$(cat canary-5)\n"}, nil, []string{"cluster.env:4:1: the value is that of a command"}},
		"value of another":  {map[string]string{"cluster.env": env + "A=${B}x\n"}, nil, []string{"cluster.env:4:1: variable B has no value"}},
		"encrypted":         {map[string]string{"cluster.env": env + "A=ENC[x]\nsops_mac=x\n"}, nil, []string{"cluster.env: is encrypted"}},
		"no bundle":         {map[string]string{"secrets.yaml": ""}, nil, []string{"has no secrets bundle", "talosctl gen secrets"}},
		"two bundles":       {map[string]string{"talos.yaml": parts()["bundle.yaml"]}, nil, []string{"talos.yaml: is a secrets bundle, and so is secrets.yaml"}},
		"broken bundle":     {map[string]string{"secrets.yaml": "certs: {a: canary-7}\n\tx: 1\n"}, nil, []string{"secrets.yaml:2"}},
		"empty document":    {map[string]string{"secrets.yaml": "---\n---\ncerts: {a: canary-8}\n"}, nil, []string{"secrets.yaml: is no secrets bundle"}},
		"bundle lacks":      {map[string]string{"secrets.yaml": "certs: {a: canary-6}\ntrustdinfo: {}\n"}, nil, []string{"secrets.yaml: not a secrets bundle"}},
		"no name":           {map[string]string{"cluster.env": "TALOS_VERSION=v1.13.9\n"}, nil, []string{"CLUSTER_NAME=<name>", "CLUSTER_ENDPOINT=https://"}},
		"no version":        {map[string]string{"cluster.env": strings.Replace(env, "TALOS", "OTHER", 1)}, nil, []string{"which Talos the machines have"}},
		"unknown version":   {map[string]string{"cluster.env": strings.Replace(env, "1.13.9", "1.2.0", 1)}, nil, []string{"Talos v1.2.0, which is not known"}},
		"which machines":    {map[string]string{"patches/kubelet.yaml": "machine: {}\n"}, nil, []string{"patches/kubelet.yaml: it is not said for which machines"}},
		"folder":            {map[string]string{"patches/extra/deep/a.yaml": "machine: {}\n"}, nil, []string{"patches/extra: it is not said for which machines"}},
		"no patches":        {map[string]string{"patches/common.yaml": "", "patches/controlplane.yaml": "", "patches/nodes/cp-1.yaml": ""}, nil, []string{"has no patches"}},
		"no machines":       {map[string]string{"patches/nodes/cp-1.yaml": ""}, nil, []string{"names no machines", "CONTROL_PLANES="}},
		"role of a machine": {map[string]string{"patches/nodes/nas.yaml": "machine: {}\n"}, nil, []string{"patches/nodes/nas.yaml: machine nas: nothing says", "--node nas=worker"}},
		"role by hand":      {nil, []string{"nas=server"}, []string{"nas=server: is neither NAME=controlplane nor NAME=worker"}},
		"flag of the call":  {map[string]string{"render.sh": "x\ntalosctl gen config a \\\n  b --registry-mirror a=b\n"}, nil, []string{"render.sh:2: an import does not know what --registry-mirror does"}},
		"environments":      {map[string]string{"envs/a/cluster.env": env, "envs/b/cluster.env": env}, nil, []string{"the folder has several environments", "a, b"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := repository(t)
			_, err := Import(context.Background(), r, "home", Options{From: Layered, Dir: layeredFolder(c.changes), Nodes: c.nodes})
			if err == nil {
				t.Fatal("it is imported")
			}
			text := said(err)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("got %s\nwant %s", text, want)
				}
			}
			if strings.Contains(text, "canary") {
				t.Errorf("a secret is told: %s", text)
			}
			if entries(t, r.Root(), "envs") != "" {
				t.Error("something was written")
			}
		})
	}
}

// TestLayeredTakes: other shapes of folders, and what becomes of them.
func TestLayeredTakes(t *testing.T) {
	const env = "CLUSTER_NAME=attic\nCLUSTER_ENDPOINT=https://10.0.0.10:6443\nTALOS_VERSION=v1.13.9\n"
	for name, c := range map[string]struct {
		changes map[string]string
		nodes   []string
		want    []string // in what is written
		not     string
	}{
		"as it is":       {nil, nil, []string{"name: cp-1", "patches/nodes/cp-1/cp-1.yaml", "patches/controlplane.yaml was not copied: without it"}, "nodepools"},
		"list":           {map[string]string{"cluster.env": env + "WORKERS=\"w-1=10.0.0.21 w-2\"\n"}, nil, []string{"name: w-1", "bootAddress: 10.0.0.21", "name: w-2"}, ""},
		"by hand":        {nil, []string{"Nas=workers@10.0.0.31"}, []string{"name: nas", "bootAddress: 10.0.0.31"}, ""},
		"literal dollar": {map[string]string{"cluster.env": env + "PATH='$PATH'\n", "patches/common.yaml": "machine:\n  sysctls:\n    a: \"$PATH:${PATH}\"\n"}, nil, []string{"${PATH}:${PATH}"}, ""},
		"secret in free text": {map[string]string{"cluster.env": env + "GREETING=canary-free-text-1\n", "patches/common.yaml": "machine:\n  registries:\n    config:\n      a.example.com:\n        auth: {username: a, password: $GREETING}\n"},
			nil, []string{`password: "${GREETING}"`}, "canary"},
		"token in a URL": {map[string]string{"cluster.env": env + "PROXY=http://a:canary-12345@proxy.example.com\n", "patches/common.yaml": "machine:\n  env:\n    http_proxy: ${PROXY}\n"},
			nil, []string{"http_proxy: ${PROXY}"}, "canary"},
		"secret in a comment":         {map[string]string{"cluster.env": "# The password: canary-comment-1\n" + env + "HASH=\"a #token=b\"\nONE=1 # token=canary-comment-2\n  # token: canary-comment-3\n# kept: a note\n"}, nil, []string{"HASH=\"a #token=b\"", "ONE=1\n", "# kept: a note"}, "canary"},
		"no environment of that name": {map[string]string{"envs/attic/common.yaml": "machine:\n  sysctls:\n    vm.swappiness: \"20\"\n"}, nil, []string{`vm.swappiness: "20"`, "patches/common/z-common.yaml"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, folder := repository(t), layeredFolder(c.changes)
			report := mustImport(t, r, folder, Options{From: Layered, Nodes: c.nodes})
			got := tree(t, r.Root(), report)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %s\nwant %s", got, want)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("it has %s: %s", c.not, got)
			}
			if again := mustImport(t, r, folder, Options{From: Layered, Nodes: c.nodes}); again.Written {
				t.Error("a second import writes")
			}
		})
	}
}
