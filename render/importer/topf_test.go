package importer

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// topfVariable names a checkout of topf, which no proxy for Go modules has: its own
// command is the judge of the tests below, and so are its examples.
const topfVariable = "TALOSGEN_TOPF_DIR"

// topfProgram builds topf from the checkout, once.
var topfProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "topf")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "topf")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/topf")
	cmd.Dir = os.Getenv(topfVariable)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

// realTopf returns the path of topf; without a checkout the test is skipped.
func realTopf(t *testing.T) string {
	t.Helper()
	if os.Getenv(topfVariable) == "" {
		t.Skipf("%s: NOT COMPARED with the real topf: %s names no checkout of it", t.Name(), topfVariable)
	}
	program, err := topfProgram()
	if err != nil {
		t.Fatalf("topf cannot be built in %s: %v", os.Getenv(topfVariable), err)
	}
	return program
}

// topfRender has topf write its configurations into output/ of a folder.
func topfRender(t *testing.T, dir string, env ...string) {
	t.Helper()
	cmd := exec.Command(realTopf(t), "render")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "SOPS_AGE_KEY="+ageKey.FindString(parts()["operator.agekey"]),
		"PATH="+filepath.Dir(toolenv.Sops(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("topf render: %v\n%s", err, out)
	}
}

// importTopf imports a folder: what is rendered then is what topf wrote, value by value,
// no secret is in a file, and a second import writes nothing.
func importTopf(t *testing.T, r *render.Repo, dir string) string {
	t.Helper()
	folder := os.DirFS(dir)
	report := mustImport(t, r, folder, Options{From: Topf})
	got := tree(t, r.Root(), report)
	if at := strings.Index(got, "canary"); at >= 0 {
		t.Errorf("a secret is in the clear: %s\n%s", got[at:min(len(got), at+40)], got)
	}
	made := rendered(t, r)
	names, err := fs.Glob(folder, "output/*.yaml")
	if err != nil || len(names) != len(made) {
		t.Errorf("%d nodes are rendered, want %d: %v", len(made), len(names), err)
	}
	for _, name := range names {
		host := strings.TrimSuffix(filepath.Base(name), ".yaml")
		node, _, _ := strings.Cut(host, ".")
		sameDocuments(t, node, made[node], readText(t, folder, name))
	}
	if again := mustImport(t, r, folder, Options{From: Topf}); again.Written {
		t.Error("a second import writes")
	}
	return got
}

// likeTopf compares the configurations of a folder, which talosctl or Talos' library made
// in the place of topf, with those of the real one, if there is one.
func likeTopf(t *testing.T, folder fs.FS) {
	t.Helper()
	if os.Getenv(topfVariable) == "" {
		t.Logf("NOT COMPARED with the real topf: %s names no checkout of it", topfVariable)
		return
	}
	files, made := map[string]string{"secrets.yaml": parts()["bundle.yaml"]}, map[string]string{}
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
		case path.Dir(name) == "output":
			made[name] = readText(t, folder, name)
		default:
			files[name] = readText(t, folder, name)
		}
		return err
	})
	if err != nil || len(made) == 0 {
		t.Fatalf("no configurations: %v", err)
	}
	dir := t.TempDir()
	writeFiles(t, dir, files)
	topfRender(t, dir)
	for name, text := range made {
		sameDocuments(t, name+" of topf", canonical(t, readText(t, os.DirFS(dir), name)), canonical(t, text))
	}
}

// topfExample is topf's own example, with the secrets of the tests.
func topfExample(t *testing.T) map[string]string {
	t.Helper()
	checkout := os.DirFS(os.Getenv(topfVariable))
	files := map[string]string{"secrets.yaml": parts()["bundle.yaml"]}
	err := fs.WalkDir(checkout, "example", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[strings.TrimPrefix(name, "example/")] = readText(t, checkout, name)
		}
		return err
	})
	if err != nil || files["topf.yaml"] == "" {
		t.Fatalf("topf has no example: %v", err)
	}
	return files
}

// TestTopfExample imports the example of topf's repository, as it stands and with what its
// comments offer.
func TestTopfExample(t *testing.T) {
	realTopf(t)
	for name, c := range map[string]struct {
		env        []string
		was, is    string
		want, lack string
	}{
		"as it stands": {want: "name: node5", lack: "log.example.com"},
		"schematic":    {was: `# schematicId: "@manifest`, is: `schematicId: "@manifest`, want: "schematic:", lack: "{{"},
		"environment":  {env: []string{"LOG_ENDPOINT=tcp://log.example.com:514", "REGISTRY_MIRROR=https://mirror.example.com"}, want: "https://mirror.example.com"},
		"1.12":         {was: "talosVersion: 1.13.3", is: "talosVersion: v1.12.11", want: "configContract: v1.12"},
		"no version":   {was: "talosVersion: 1.13.3", is: "", want: "configContract: v1.13"},
	} {
		t.Run(name, func(t *testing.T) {
			files := topfExample(t)
			if !strings.Contains(files["topf.yaml"], c.was) {
				t.Fatalf("topf's example has changed: no %s in it", c.was)
			}
			files["topf.yaml"] = strings.Replace(files["topf.yaml"], c.was, c.is, 1)
			dir := t.TempDir()
			writeFiles(t, dir, files)
			topfRender(t, dir, c.env...)
			got := importTopf(t, repository(t), dir)
			if !strings.Contains(got, c.want) || c.lack != "" && strings.Contains(got, c.lack) {
				t.Errorf("want %q and not %q in:\n%s", c.want, c.lack, got)
			}
		})
	}
}

// topfFiles are files of a tree of topf's; each is there or not. Together they use what
// topf has for patches: layers, folders in folders, templates, several documents, deletions.
var topfFiles = map[string]string{
	"all/00-disk.yaml":                    "machine:\n  install:\n    disk: /dev/sda\n",
	"all/01-kubelet.yaml":                 "# Pods of the monitoring need more of them.\nmachine:\n  kubelet:\n    extraConfig:\n      maxPods: 200\n",
	"all/05-hostname.yaml.tpl":            "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: \"off\"\nhostname: {{ .Node.Host }}\n",
	"all/06-time/10-ntp.yml":              "machine:\n  time:\n    servers: [10.0.0.1]\n",
	"all/06-time/20-ntp.yml.tpl":          "machine:\n  time:\n    servers:\n{{- range .Data.timeServers }}\n      - {{ . }}\n{{- end }}\n",
	"all/07-several.yaml":                 "---\n# nothing\n---\nmachine:\n  sysctls:\n    vm.swappiness: \"10\"\n---\napiVersion: v1alpha1\nkind: WatchdogTimerConfig\ndevice: /dev/watchdog0\ntimeout: 3m0s\n---\n{}\n",
	"all/08-anchors.yaml":                 "machine:\n  nodeAnnotations: &a\n    example.com/owner: ada\n  nodeLabels:\n    <<: *a\n    example.com/rack: \"1\"\n",
	"all/09-labels.yaml.tpl":              "machine:\n  nodeLabels:\n    topology.kubernetes.io/region: {{ .Data.region | quote }}\n    example.com/version: {{ .KubernetesVersion | replace \".\" \"-\" | quote }}\n",
	"all/10-files.yaml":                   "machine:\n  files:\n    - content: \"TS_AUTHKEY=canary-file-12345\\n\"\n      permissions: 0o600\n      path: /var/etc/auth.env\n      op: create\n",
	"control-plane/01-cluster.yaml":       "# Discs are slow here.\ncluster:\n  etcd:\n    extraArgs:\n      election-timeout: \"5000\"\n  allowSchedulingOnControlPlanes: true\n",
	"control-plane/02-label.yaml":         "machine:\n  nodeLabels:\n    node.kubernetes.io/exclude-from-external-load-balancers:\n      $patch: delete\n",
	"control-plane/03-admission.yaml":     "cluster:\n  apiServer:\n    admissionControl:\n      $patch: delete\n",
	"control-plane/04-sans.yaml.tpl":      "cluster:\n  apiServer:\n    certSANs:\n      - {{ .ClusterName }}.example.com\n",
	"worker/01-taints.yaml":               "machine:\n  nodeTaints:\n    example.com/dedicated: gpu:NoSchedule\n",
	"worker/02-sysctls.yaml":              "machine:\n  sysctls:\n    vm.swappiness: \"20\"\n    vm.nr_hugepages: \"512\"\n",
	"node/cp-1/01-vip.yaml":               "machine:\n  network:\n    interfaces:\n      - deviceSelector:\n          hardwareAddr: \"52:54:00:12:34:01\"\n        dhcp: true\n        vip:\n          ip: 10.0.0.10\n",
	"node/worker-1.lan/01-disk.yaml":      "machine:\n  install:\n    disk: /dev/nvme0n1\n",
	"node/worker-1.lan/02-disks.yaml.tpl": "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\nprovisioning:\n  diskSelector:\n    match: disk.dev_path == \"{{ .Node.Data.disk }}\"\n  minSize: 10GiB\n",
	"node/worker-1.lan/03-label.yaml.tpl": "machine:\n  nodeLabels:\n    example.com/address: \"{{ .Node.IP }}\"\n    example.com/role: {{ .Node.Role }}\n    example.com/schematic: {{ .SchematicID | trunc 8 | quote }}\n",
}

// topfFields are the fields of topf.yaml that it may lack, and topfNodeFields those of
// nodes.
var (
	topfFields = []string{
		"talosVersion: v1.13.9", "schematicId: \"@schematic.yaml\"", "schematicId: \"@schematic.yaml.tpl\"",
		"schematicId: 613e1592b2da41ae5e265e8789429f22e121aab91cb4deb6bc3c0b6262961245",
		"factory: factory.example.com", "platform: nocloud", "secureboot: true", "secretsPath: keys/secrets.yaml",
	}
	topfNodeFields = []string{
		"talosVersion: 1.13.8", "schematicId: \"@schematic.yaml\"", "factory: other.example.com:8443", "platform: metal", "secureboot: true",
	}
)

// topfTree is the tree of a seed.
func topfTree(seed uint64) map[string]string {
	random := rand.New(rand.NewPCG(seed, 19))
	dir := []string{"", "patches/"}[random.IntN(2)]
	text := "clusterName: attic\nclusterEndpoint: https://10.0.0.10:6443\nkubernetesVersion: " + []string{"v1.35.4", "1.36.3"}[random.IntN(2)] + "\n"
	if dir != "" {
		text += "patchesDir: ./patches\n"
	}
	used := map[string]bool{}
	for _, field := range topfFields {
		key, _, _ := strings.Cut(field, ":")
		if random.IntN(2) == 0 && !used[key] {
			used[key] = true
			text += field + "\n"
		}
	}
	text += "data:\n  region: attic\n  timeServers: [10.0.0.2, 10.0.0.3]\n  token: canary-token-12345\nnodes:\n"
	for i, host := range []string{"worker-1.lan", "cp-1", "cp-2", "cp-3", "worker-2"} {
		role := []string{"control-plane", "worker"}[min(1, strings.Count(host, "worker"))]
		text += "  - host: " + host + "\n    role: " + role + "\n"
		if random.IntN(4) > 0 || host == "worker-1.lan" {
			text += "    ip: 10.0.0." + strconv.Itoa(11+i) + "\n"
		}
		if host == "worker-1.lan" {
			text += "    data: {disk: /dev/sdb}\n"
		}
		for _, field := range topfNodeFields {
			if random.IntN(5) == 0 {
				text += "    " + field + "\n"
			}
		}
	}
	files := map[string]string{"topf.yaml": text, "secrets.yaml": parts()["bundle.yaml"],
		"schematic.yaml":     "customization:\n  systemExtensions:\n    officialExtensions:\n      - siderolabs/iscsi-tools\n  extraKernelArgs: [net.ifnames=0]\n",
		"schematic.yaml.tpl": "customization:\n  extraKernelArgs:\n    - talos.hostname={{ .Node.Host }}\n",
	}
	if used["secretsPath"] {
		files["keys/secrets.yaml"] = files["secrets.yaml"]
		delete(files, "secrets.yaml")
	}
	for _, name := range keysOf(topfFiles) {
		if random.IntN(3) > 0 || name == "all/00-disk.yaml" { // without a disk, Talos takes none of them
			files[dir+name] = topfFiles[name]
		}
	}
	return files
}

// TestTopf imports generated repositories of topf's after the real one wrote its
// configurations: these are what is rendered then, value by value, and no secret of them
// is in a file.
func TestTopf(t *testing.T) {
	realTopf(t)
	for seed := uint64(1); seed <= 20; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			dir := t.TempDir()
			files := topfTree(seed)
			writeFiles(t, dir, files)
			if seed%3 == 0 { // as people do who have a token in data
				encrypted := maps.Clone(files)
				encrypted["topf.yaml"] = string(encryptedFor(t, "^token$", files["topf.yaml"]))
				writeFiles(t, dir, encrypted)
			}
			topfRender(t, dir)
			importTopf(t, repository(t), dir)
		})
	}
}

// TestTopfHomes imports the repositories of testdata/topf, of the shapes that people
// have: what is rendered is what the real topf made of them, and what is written is
// reviewed there.
func TestTopfHomes(t *testing.T) {
	realTopf(t)
	casetest.RunOne(t, "testdata/topf/*.txtar", "written", func(t *testing.T, c casetest.Case) string {
		var home struct {
			Dir   string            // of topf.yaml
			Links map[string]string // symbolic ones
			Sops  map[string]string // files that are encrypted, and the keys of what is in them
			CRLF  []string          `yaml:"crlf"` // files whose lines end as in Windows
		}
		if err := yaml.Unmarshal(c.First(), &home); err != nil {
			t.Fatal(err)
		}
		root := t.TempDir()
		dir := filepath.Join(root, home.Dir)
		files := map[string]string{path.Join(home.Dir, "secrets.yaml"): parts()["bundle.yaml"]}
		for name, text := range c.Texts {
			if name != "case" && name != "written" {
				files[name] = text
			}
		}
		for name, keys := range home.Sops {
			files[name] = string(encryptedFor(t, keys, files[name]))
		}
		for _, name := range home.CRLF {
			files[name] = strings.ReplaceAll(files[name], "\n", "\r\n")
		}
		writeFiles(t, root, files)
		for from, to := range home.Links {
			if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
				t.Fatal(err)
			}
		}
		topfRender(t, dir)
		return importTopf(t, repository(t), dir)
	})
}
