package importer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/internal/versions"
)

// talhelperFolder is a folder with one control plane and one worker, as talhelper leaves
// it, with a patch of labels.
func talhelperFolder(t *testing.T, talconfig, label string) (cluster, fstest.MapFS) {
	t.Helper()
	release, _ := versions.Of("v1.13.9")
	c := plain(release)
	for i, host := range []string{"one", "two"} {
		c.Nodes[i].File, c.Nodes[i].Patches = "clusterconfig/attic-"+host+".yaml", []string{host, "label"}
	}
	name := func(host string) string {
		return "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: !delete\nhostname: " + host + "\n"
	}
	folder := c.machines(t, map[string]string{"one": name("one"), "two": name("two"), "label": "machine:\n  nodeLabels:\n    example.com/zone: " + label + "\n"})
	folder["talconfig.yaml"] = &fstest.MapFile{Data: []byte(talconfig)}
	return c, folder
}

const twoNodes = `clusterName: ${clusterName}
endpoint: https://k8s.example.com:6443
nodes:
  - {hostname: "${first:-one}", ipAddress: $address, controlPlane: true}
  - {hostname: two, ipAddress: 10.0.0.12}
`

// TestTalenv: talconfig.yaml may have variables where a configuration is found by them,
// and what talenv.yaml encrypts is in no file in the clear.
func TestTalenv(t *testing.T) {
	const plainEnv = "---\nclusterName: attic\naddress: 10.0.0.11\n"
	c, folder := talhelperFolder(t, twoNodes, "canary-zone-1")
	folder["talenv.yaml"] = &fstest.MapFile{Data: []byte(plainEnv)}
	folder["talenv.sops.yaml"] = &fstest.MapFile{Data: encryptedFor(t, "^zone$", "zone: canary-zone-1\n")}
	r := repository(t)
	report := mustImport(t, r, folder, Options{From: Talhelper})
	got := tree(t, r.Root(), report)
	if strings.Contains(got, "canary-zone") || !strings.Contains(got, "bootAddress: 10.0.0.11") {
		t.Errorf("a secret is in the clear, or the address is lost:\n%s", got)
	}
	made := rendered(t, r)
	if !slices.Equal(keysOf(made), []string{"one", "two"}) {
		t.Errorf("nodes: %v", keysOf(made))
	}
	c.compare(t, made, folder)
	if again := mustImport(t, r, folder, Options{From: Talhelper}); again.Written {
		t.Error("a second import writes")
	}
}

// TestTalenvRefused: what is not known, or cannot be hidden, is named with its place.
func TestTalenvRefused(t *testing.T) {
	for name, c := range map[string]struct {
		env, encrypted, talconfig, want string
	}{
		"no such variable": {env: "address: 10.0.0.11\n", want: "talconfig.yaml:1: clusterName is ${clusterName}, and ${clusterName} is no variable of talenv.yaml"},
		"no address":       {env: "clusterName: attic\n", want: "talconfig.yaml:4: an ipAddress is $address"},
		"no YAML":          {env: "a: [\n", want: "talenv.yaml:"},
		"endpoint": {env: "clusterName: attic\naddress: 10.0.0.11\n", encrypted: "endpoint: k8s.example.com\n",
			want: "talenv.sops.yaml: endpoint is encrypted, and its value would be in the clear in envs/home/cluster.yaml, which takes no secrets if those may read it who read the repository, have it in the clear in talenv.yaml"},
		"several machines": {env: "{}\n", talconfig: "clusterName: attic\nnodes:\n  - hostname: one\n    ipAddress: 10.0.0.11, 10.0.0.12,fd00::11\n    ignoreHostname: true\n    controlPlane: true\n",
			want: "talconfig.yaml:3: node one stands for 3 machines give each machine of the cluster a name, those of other nodes as well: --node one-1=clusterconfig/attic-one.yaml@10.0.0.11 --node one-2=clusterconfig/attic-one.yaml@10.0.0.12"},
		"a name that is made by a program": {env: "{}\n", talconfig: "clusterName: attic\nnodes:\n  - {hostname: one, ipAddress: 10.0.0.11, controlPlane: true}\n  - {hostname: two, ipAddress: 10.0.0.12, controlPlane: true}\n  - {hostname: three, ipAddress: 10.0.0.13}\ncontrolPlane: {filenameTmpl: \"{{if .Hostname}}x{{end}}.yaml\"}\n",
			want: "talconfig.yaml: filenameTmpl \"{{if .Hostname}}x{{end}}.yaml\" of node two has more in it than .ClusterName, .Hostname, .IPAddress and .Role name the files of all nodes: --node two=FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.talconfig == "" {
				c.talconfig = twoNodes
			}
			_, folder := talhelperFolder(t, c.talconfig, "a")
			folder["talenv.yaml"] = &fstest.MapFile{Data: []byte(c.env)}
			if c.encrypted != "" {
				folder["talenv.sops.yaml"] = &fstest.MapFile{Data: encryptedFor(t, "^endpoint$", c.encrypted)}
			}
			r := repository(t)
			_, err := Import(context.Background(), r, "home", Options{From: Talhelper, Dir: folder})
			if err == nil {
				t.Fatal("it is imported")
			}
			if got := strings.Join(strings.Fields(said(err)), " "); !strings.Contains(got, c.want) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
			if entries(t, r.Root(), "envs") != "" {
				t.Error("something was written")
			}
		})
	}
}

// TestSeveralMachines: a node that stands for several machines is imported with a name for
// each.
func TestSeveralMachines(t *testing.T) {
	_, folder := talhelperFolder(t, "clusterName: attic\nnodes:\n  - {hostname: one, ipAddress: \"10.0.0.11, 10.0.0.12, 10.0.0.13\", ignoreHostname: true, controlPlane: true}\n", "a")
	r := repository(t)
	one := "=clusterconfig/attic-one.yaml@10.0.0.1"
	mustImport(t, r, folder, Options{From: Talhelper, Nodes: []string{"one-1" + one + "1", "one-2" + one + "2", "one-3" + one + "3"}})
	made := rendered(t, r)
	for _, node := range []string{"one-1", "one-2", "one-3"} {
		sameDocuments(t, node, made[node], string(folder["clusterconfig/attic-one.yaml"].Data))
	}
}

// TestEncryptedPatches: what a patch of talhelper's or topf's has encrypted is a secret
// wherever it ends up, whatever its key is called.
func TestEncryptedPatches(t *testing.T) {
	for from, files := range map[string]struct{ config, value, patch, out string }{
		Talhelper: {"talconfig.yaml", "clusterName: attic\npatches: [\"@./secret/label.sops.yaml\"]\nnodes:\n  - {hostname: one, ipAddress: 10.0.0.11, controlPlane: true}\n  - {hostname: two, ipAddress: 10.0.0.12}\n", "secret/label.sops.yaml", "clusterconfig/attic-"},
		Topf:      {"topf.yaml", "clusterName: attic\nnodes:\n  - {host: one, ip: 10.0.0.11}\n  - {host: two, ip: 10.0.0.12}\n", "all/label.yaml", "output/"},
	} {
		t.Run(from, func(t *testing.T) {
			c, folder := talhelperFolder(t, "", "canary-zone-1")
			delete(folder, "talconfig.yaml")
			for i, host := range []string{"one", "two"} {
				folder[files.out+host+".yaml"] = folder[c.Nodes[i].File]
				c.Nodes[i].File = files.out + host + ".yaml"
			}
			folder[files.config] = &fstest.MapFile{Data: []byte(files.value)}
			folder[files.patch] = &fstest.MapFile{Data: encryptedFor(t, "zone", "machine:\n  nodeLabels:\n    example.com/zone: canary-zone-1\n")}
			r := repository(t)
			report := mustImport(t, r, folder, Options{From: from})
			if got := tree(t, r.Root(), report); strings.Contains(got, "canary-zone") {
				t.Errorf("a secret is in the clear:\n%s", got)
			}
			c.compare(t, rendered(t, r), folder)
		})
	}
}
