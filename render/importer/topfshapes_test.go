package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v4"
)

// topfShape is a folder of topf's with a control plane and a worker, what topf made the
// configurations of beside the disk, and what an import says.
type topfShape struct {
	files   map[string]string
	effects string   // of the patches, on both
	want    []string // in what is written and told; LINE stands for a number
	refused string
	lack    []string
}

// folder is the folder.
func (s topfShape) folder(t *testing.T) fstest.MapFS {
	t.Helper()
	c := cluster{Contract: "v1.13", Talos: "v1.13.9", Kubernetes: "1.36.3", Endpoint: "https://10.0.0.10:6443"}
	if err := yaml.Unmarshal([]byte("nodes: [{file: output/one.yaml, role: controlplane, patches: [effects]}, {file: output/two.yaml, role: worker, patches: [effects]}]"), &c); err != nil {
		t.Fatal(err)
	}
	folder := c.machines(t, map[string]string{"effects": s.effects})
	folder["topf.yaml"] = &fstest.MapFile{Data: []byte("clusterName: attic\nclusterEndpoint: https://10.0.0.10:6443\nkubernetesVersion: 1.36.3\nnodes:\n  - {host: one, role: control-plane}\n  - {host: two, role: worker}\n")}
	for name, text := range s.files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return folder
}

// TestTopfShapes is what topf does with trees that are not like others: each is as the real
// topf has it, which [TestTopf] compares.
func TestTopfShapes(t *testing.T) {
	const vals = "machine:\n  registries:\n    mirrors:\n      ghcr.io:\n        endpoints: [\"ref+vault://kv/mirror#url\"]\n  env:\n    PLAIN: ref+file://x\n"
	for name, s := range map[string]topfShape{
		"a name with .yaml in it": {files: map[string]string{"all/10-old.yaml.bak": "machine: {nodeLabels: {old: here}}\n", "all/.20-hidden.yaml": "machine: {nodeLabels: {hidden: here}}\n"},
			effects: "machine: {nodeLabels: {old: here, hidden: here}}\n", want: []string{"old: here", "hidden: here", "all/10-old.yaml.bak is a patch to topf"}},
		"a date is a time": {files: map[string]string{"all/a.yaml": "machine: {nodeAnnotations: {since: 2024-05-06, version: 1.10}}\n"},
			effects: "machine: {nodeAnnotations: {since: \"2024-05-06T00:00:00Z\", version: \"1.1\"}}\n", want: []string{"2024-05-06T00:00:00Z", "version: \"1.1\""}, lack: []string{"1.10"}},
		"a reference of vals": {files: map[string]string{"worker/a.yaml": vals},
			effects: "machine:\n  registries:\n    mirrors:\n      ghcr.io:\n        endpoints: [\"https://canary-user-12345@mirror.example.com\"]\n  env:\n    PLAIN: canary-plain-12345\n",
			want:    []string{"${REGISTRIES_MIRRORS_GHCR_IO_ENDPOINTS}", "${ENV_PLAIN}", "worker/a.yaml was not copied"}},
		"a short secret of vals": {files: map[string]string{"all/a.yaml": "# a\nmachine: {env: {PLAIN: ref+file://x}}\n"}, effects: "machine: {env: {PLAIN: short}}\n", refused: "all/a.yaml:2:24: a reference of vals, and what it stands for is too short"},
		"vals in topf.yaml":      {files: map[string]string{"topf.yaml": "nodes:\n  - {host: one, role: control-plane}\n  - {host: two, role: worker}\ndata:\n  token: ref+awsssm://x\n"}, refused: "topf.yaml:5:10: a reference of vals"},
		"a variable of the environment": {files: map[string]string{"all/a.yaml.tpl": "machine: {env: {PROXY: '{{ env \"MY_PROXY\" }}'}}\n"}, effects: "machine: {env: {PROXY: \"http://proxy.example.com\"}}\n",
			want: []string{"all/a.yaml.tpl takes MY_PROXY from the environment"}},
		"no disk":        {refused: "output/one.yaml:LINE: node one: installDisk or diskSelector is required"},
		"no label value": {effects: "machine: {nodeLabels: {example.com/address: <nil>}}\n", refused: "output/one.yaml:LINE: nodes.controlPlane.labels.example.com/address must be"},
		"no such role":   {files: map[string]string{"controlplane/a.yaml": "machine: {nodeLabels: {x: nothing}}\n"}, want: []string{"clusterName: attic"}, lack: []string{"nothing"}},
	} {
		t.Run(name, func(t *testing.T) { s.test(t, name == "no disk") })
	}
}

// TestTopfLinks: links of folders are followed as topf does, as long as they stay in the
// folder that is imported.
func TestTopfLinks(t *testing.T) {
	s := topfShape{effects: "machine: {sysctls: {vm.deep: here, vm.outside: here, vm.file: here}}\n", files: map[string]string{
		"shared/base/deep/a.yaml": "# Deep down.\nmachine: {sysctls: {vm.deep: here}}\n",
		"shared/file":             "# A file of another name.\nmachine: {sysctls: {vm.file: here}}\n"}}
	dir, outside := t.TempDir(), t.TempDir()
	for name, f := range s.folder(t) {
		writeFiles(t, dir, map[string]string{name: string(f.Data)})
	}
	writeFiles(t, outside, map[string]string{"b.yaml": "# canary\nmachine: {sysctls: {vm.outside: here}}\n"})
	writeFiles(t, dir, map[string]string{"all/.keep": ""})
	for from, to := range map[string]string{"all/00-base": "../shared/base", "all/10-out": outside, "all/20-round": "../all", "all/30-file.yaml": "../shared/file", "all/40-none.yaml": "nowhere", "worker": outside} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	r := repository(t)
	report := mustImport(t, r, root.FS(), Options{From: Topf})
	got := tree(t, r.Root(), report)
	for _, want := range []string{"patches/common/00-base-deep-a.yaml\n# Deep down.", "patches/common/30-file.yaml\n# A file", "outside: here",
		"all/10-out cannot be read, as it leads out", "worker cannot be read, as it leads out", "all/40-none.yaml cannot be read", "all/20-round is passed over: it leads back"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "canary") {
		t.Errorf("a file outside of the folder was read:\n%s", got)
	}
}

func (s topfShape) test(t *testing.T, bare bool) {
	folder := s.folder(t)
	if bare { // Talos takes no such configuration, and topf renders it
		for _, file := range []string{"output/one.yaml", "output/two.yaml"} {
			folder[file].Data = []byte(strings.Replace(string(folder[file].Data), "        disk: /dev/sda\n", "", 1))
		}
	}
	if s.refused != "" {
		refuses(t, repository(t), Topf, folder, s.refused)
		return
	}
	r := repository(t)
	report := mustImport(t, r, folder, Options{From: Topf})
	got := tree(t, r.Root(), report)
	for _, want := range s.want {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, lack := range append(s.lack, "canary") {
		if strings.Contains(got, lack) {
			t.Errorf("%q is in\n%s", lack, got)
		}
	}
	for node, text := range rendered(t, r) {
		sameDocuments(t, node, text, readText(t, folder, "output/"+node+".yaml"))
	}
}
