package importer

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// example is a folder of talhelper's own, and the key that its secrets are encrypted for.
type example struct {
	files map[string]string
	key   string
}

// yamlBlock is an example in a page of talhelper's documentation.
var yamlBlock = regexp.MustCompile("(?s)```yaml[^\n]*\n(.*?)\n```")

// talhelperExamples are all examples that talhelper's module has: its folder, those of its
// own tests, and what stands in its documentation with a cluster's name and nodes.
func talhelperExamples(t *testing.T) map[string]example {
	t.Helper()
	module := os.DirFS(toolenv.Folder(t, "tools/talhelper"))
	all := map[string]example{}
	for _, dir := range []string{"example", "testdata"} {
		e := example{files: map[string]string{}}
		names, err := fs.Glob(module, dir+"/*")
		if err != nil || len(names) == 0 {
			t.Fatalf("talhelper has no %s: %v", dir, err)
		}
		for _, name := range names {
			e.files[path.Base(name)] = readText(t, module, name)
		}
		e.key = e.files["key.txt"]
		all[dir] = e
	}
	pages, err := fs.Glob(module, "docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("talhelper has no documentation: %v", err)
	}
	for _, page := range pages {
		for i, block := range yamlBlock.FindAllStringSubmatch(readText(t, module, page), -1) {
			if strings.Contains(block[1], "clusterName:") && strings.Contains(block[1], "\nnodes:") {
				all[fmt.Sprintf("%s %d", path.Base(page), i+1)] = example{files: map[string]string{"talconfig.yaml": block[1] + "\n"}}
			}
		}
	}
	return all
}

func readText(t *testing.T, from fs.FS, name string) string {
	t.Helper()
	data, err := fs.ReadFile(from, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// refusedExamples are those that are refused as they stand: what talosgen says, and what is
// taken out for the rest to be imported.
var refusedExamples = map[string]struct{ says, without, with string }{
	// Such a kubelet does not start.
	"example": {"clusterconfig/home-cluster-kmaster1.yaml:LINE: node kmaster1: machine.kubelet.extraArgs.feature-gates: Kubernetes 1.35 has no feature gate MixedProtocolLBService of kubelet: it ended with 1.28", ",MixedProtocolLBService=(true|false)", ""},
	// Talos is too old.
	"testdata": {"clusterconfig/test-cluster-hostname1.yaml:LINE: Talos v1.5.4 is not known; known are 1.9 to 1.14 upgrade the cluster", "talosVersion: .*\nkubernetesVersion: .*", "talosVersion: v1.13.9\nkubernetesVersion: v1.36.3"},
	// One configuration is for three machines, whose names are nowhere.
	"guides.md 10": {"talconfig.yaml:LINE: node controller stands for 3 machines give each machine of the cluster a name, those of other nodes as well: --node controller-1=clusterconfig/my-cluster-controller.yaml@192.168.10.11 --node", "(?m), 192.168.10.1[2356].*$", ""},
}

// notYAML are examples that talhelper itself does not read.
var notYAML = map[string]string{"guides.md 2": "- @./firewall.yaml"}

// TestTalhelperExamples imports each example that talhelper's module has, after the real
// one made its configurations.
func TestTalhelperExamples(t *testing.T) {
	toolenv.Talhelper(t)
	all := talhelperExamples(t)
	for name := range refusedExamples {
		if _, there := all[name]; !there {
			t.Errorf("talhelper has no example %s", name)
		}
	}
	for name, e := range all {
		if bad := notYAML[name]; bad != "" && strings.Contains(e.files["talconfig.yaml"], bad) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			complete(e.files)
			dir := t.TempDir()
			writeFiles(t, dir, e.files)
			genconfig(t, dir, e.key)
			if refused, is := refusedExamples[name]; is {
				refuses(t, repositoryWith(t, e.key), Talhelper, os.DirFS(dir), refused.says)
				e.files["talconfig.yaml"] = regexp.MustCompile(refused.without).ReplaceAllString(e.files["talconfig.yaml"], refused.with)
				writeFiles(t, dir, e.files)
				genconfig(t, dir, e.key)
			}
			r := repositoryWith(t, e.key)
			report := importTalhelper(t, r, os.DirFS(dir))
			if got := tree(t, r.Root(), report); name == "example" && !strings.Contains(got, `domainname: "${IMPORTED_NODE_LABELS_DOMAINNAME}"`) {
				t.Errorf("myDomainName, which talenv.yaml encrypts, is in the clear:\n%s", got)
			}
		})
	}
}

// complete adds what talhelper insists on and an example leaves out.
func complete(files map[string]string) {
	if _, there := files["talsecret.yaml"]; !there {
		files["talsecret.yaml"] = parts()["bundle.yaml"]
	}
	text := files["talconfig.yaml"]
	for _, line := range []string{"endpoint: https://192.168.200.10:6443", "talosVersion: v1.13.9", "kubernetesVersion: v1.36.3"} {
		key, _, _ := strings.Cut(line, " ")
		if !strings.Contains(text, "\n"+key) {
			text = strings.TrimPrefix(text, "---\n") + line + "\n"
		}
	}
	if !strings.Contains(text, "installDisk") {
		text = regexp.MustCompile(`(?m)^( *)- hostname:`).ReplaceAllString(text, "$1- installDisk: /dev/sda\n$1  hostname:")
	}
	files["talconfig.yaml"] = text
	if env, there := files["env1.yaml"]; there { // its test names the file by hand, and has the rest in its environment
		files["talenv.yaml"] = env + "HOSTNAME2: hostname2\n"
	}
}

// refuses imports a folder that has to be refused, and looks for what is said, in which
// LINE is a number. Nothing is written.
func refuses(t *testing.T, r *render.Repo, from string, folder fs.FS, want string) {
	t.Helper()
	_, err := Import(t.Context(), r, "home", Options{From: from, Dir: folder})
	if err == nil {
		t.Fatal("it is imported")
	}
	got := strings.Join(strings.Fields(said(err)), " ")
	if is := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(want), "LINE", "[1-9][0-9]*(:[0-9]+)?")); !is.MatchString(got) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if entries(t, r.Root(), "envs") != "" {
		t.Error("something was written")
	}
}

// writeFiles writes files into a folder.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
