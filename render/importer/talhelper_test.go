package importer

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// Parts of a talconfig.yaml: those of the file, and those of nodes and groups of nodes.
// Each is there or not; together they use the fields that talhelper has for machines.
var (
	talhelperTop = []string{
		"domain: attic.example.com\n",
		"allowSchedulingOnControlPlanes: true\n",
		"additionalMachineCertSans: [10.0.0.10, k8s.example.com]\n",
		"additionalApiServerCertSans: [api.example.com]\n",
		"clusterPodNets: [10.42.0.0/16]\n",
		"clusterSvcNets: [10.43.0.0/16]\n",
		"cniConfig: {name: none}\n",
		"inlineManifests:\n  - name: greeting\n    contents: |\n      apiVersion: v1\n      kind: Namespace\n      metadata: {name: greeting}\n",
		"patches:\n  - |-\n    machine:\n      sysctls:\n        vm.swappiness: \"10\"\n  - \"@./patches/kubelet.yaml\"\n",
	}
	talhelperGroup = []string{
		"nodeLabels: {rack: \"1\", zone: attic}\n",
		"nodeAnnotations: {example.com/owner: ada}\n",
		"nodeTaints: {example.com/dedicated: \"gpu:NoSchedule\"}\n",
		"machineFiles:\n  - {content: \"TS_AUTHKEY=canary-file-12345\\n\", permissions: 0o600, path: /var/etc/auth.env, op: create}\n",
		"disableSearchDomain: true\n",
		"kernelModules:\n  - {name: br_netfilter, parameters: [nf_conntrack_max=131072]}\n",
		"nameservers: [10.0.0.1, 10.0.0.2]\n",
		"certSANs: [one.example.com]\n",
		"patches:\n  - \"@./patches/registry.yaml\"\n  - |-\n    machine:\n      sysctls:\n        vm.swappiness: \"20\"\n        vm.nr_hugepages: \"512\"\n",
		"ingressFirewall:\n  defaultAction: block\n  rules:\n    - name: apid\n      portSelector: {ports: [50000], protocol: tcp}\n      ingress: [{subnet: 10.0.0.0/24, except: 10.0.0.128/25}]\n",
		"extensionServices:\n  - name: nut-client\n    configFiles: [{content: \"MONITOR ups 1 remote primary\", mountPath: /usr/local/etc/nut/upsmon.conf}]\n    environment: [UPS_NAME=ups, UPS_PASSWORD=canary-ups-12345]\n",
		"volumes:\n  - name: EPHEMERAL\n    provisioning: {diskSelector: {match: disk.transport == \"nvme\"}, maxSize: 50GiB}\n",
		"userVolumes:\n  - name: data\n    provisioning: {diskSelector: {match: disk.transport == \"sata\"}, minSize: 100GiB}\n    filesystem: {type: xfs}\n    encryption: {provider: luks2, keys: [{slot: 0, static: {passphrase: canary-disk-12345}}]}\n",
		"schematic:\n  customization:\n    extraKernelArgs: [net.ifnames=0]\n    systemExtensions: {officialExtensions: [siderolabs/intel-ucode]}\n",
		"machineSpec: {mode: metal, arch: amd64, secureboot: true}\n",
		"talosImageURL: registry.example.com/siderolabs/installer\n",
		"filenameTmpl: \"{{ .Role }}-{{.IPAddress}}-{{.Hostname}}.yaml\"\n",
	}
	talhelperNode = []string{
		"ignoreHostname: true\n",
		"overridePatches: true\n",
		"overrideExtraManifests: true\n",
		"overrideMachineCertSANs: true\n",
	}
)

// somePart is a text of some parts, indented.
func somePart(random *rand.Rand, parts []string, indent string) string {
	var out strings.Builder
	for _, p := range parts {
		if random.IntN(3) == 0 {
			for line := range strings.Lines(p) {
				out.WriteString(indent + line)
			}
		}
	}
	return out.String()
}

// talconfigOf is the talconfig.yaml of a seed.
func talconfigOf(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 0))
	talos := []string{"v1.12.11", "v1.13.9"}[random.IntN(2)]
	kubernetes := map[string]string{"v1.12.11": "v1.35.4", "v1.13.9": "v1.36.3"}[talos]
	name := []string{"attic", "attic", "Attic_2.example.com"}[random.IntN(3)]
	text := "clusterName: " + name + "\ntalosVersion: " + talos + "\nkubernetesVersion: " + kubernetes + "\nendpoint: https://10.0.0.10:6443\n"
	text += somePart(random, talhelperTop, "")
	for _, group := range []string{"controlPlane", "worker"} {
		text += group + ":\n  extraManifests: [./patches/watchdog.yaml]\n" + somePart(random, talhelperGroup, "  ")
	}
	text += "nodes:\n"
	for i, name := range []string{"cp-1", "cp-2", "cp-3", "worker-1", "worker-2"} {
		at := strconv.Itoa(11 + i)
		text += "  - hostname: " + name + "\n    ipAddress: 10.0.0." + at + "\n    controlPlane: " + strconv.FormatBool(i < 3) + "\n"
		disk := []string{"installDisk: /dev/sda", "installDisk: /dev/nvme0n1", "installDiskSelector: {model: WDC*}"}[random.IntN(3)]
		text += "    " + disk + "\n" + somePart(random, talhelperNode, "    ")
		if random.IntN(2) == 0 {
			text += "    networkInterfaces:\n      - deviceSelector: {hardwareAddr: \"52:54:00:12:34:" + at + "\"}\n        addresses: [10.0.0." + at + "/24]\n        mtu: 9000\n        routes: [{network: 0.0.0.0/0, gateway: 10.0.0.1}]\n"
		}
		if random.IntN(3) == 0 {
			text += somePart(random, talhelperGroup, "    ")
		}
	}
	return text
}

// genconfig makes the configurations of a folder with the real talhelper.
func genconfig(t *testing.T, dir, key string) {
	t.Helper()
	cmd := exec.Command(toolenv.Talhelper(t), "genconfig", "--offline-mode", "--no-gitignore")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "SOPS_AGE_KEY="+key)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("talhelper: %v\n%s", err, out)
	}
}

// importTalhelper imports a folder: what is rendered then is what talhelper made, value
// by value, no secret is in a file, and a second import writes nothing.
func importTalhelper(t *testing.T, r *render.Repo, folder fs.FS) *Report {
	t.Helper()
	report := mustImport(t, r, folder, Options{From: Talhelper})
	if got := tree(t, r.Root(), report); strings.Contains(got, "canary") {
		t.Errorf("a secret is in the clear:\n%s", got)
	}
	made := rendered(t, r)
	want := map[string]string{}
	names, err := fs.Glob(folder, "clusterconfig/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		want[name] = readText(t, folder, name)
	}
	for name, text := range made {
		file := madeFor(want, name)
		sameDocuments(t, name, text, want[file])
		delete(want, file)
	}
	if len(want) > 0 {
		t.Errorf("not rendered: %v", keysOf(want))
	}
	if again := mustImport(t, r, folder, Options{From: Talhelper}); again.Written {
		t.Error("a second import writes")
	}
	return report
}

// madeFor is the file that talhelper made for a node.
func madeFor(files map[string]string, node string) string {
	for name := range files {
		if strings.HasSuffix(name, "-"+node+".yaml") {
			return name
		}
	}
	return ""
}

// TestTalhelper imports generated repositories of talhelper's after the real one made its
// configurations: these are what is rendered then, value by value, and no secret of them
// is in a file.
func TestTalhelper(t *testing.T) {
	toolenv.Talhelper(t)
	for seed := uint64(1); seed <= 20; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{
				"talconfig.yaml":        talconfigOf(seed),
				"talsecret.yaml":        parts()["bundle.yaml"],
				"patches/kubelet.yaml":  "# Pods of the monitoring need more of them.\nmachine:\n  kubelet:\n    extraConfig:\n      maxPods: 200\n",
				"patches/watchdog.yaml": "apiVersion: v1alpha1\nkind: WatchdogTimerConfig\ndevice: /dev/watchdog0\ntimeout: 3m0s\n",
				"patches/registry.yaml": "machine:\n  registries:\n    config:\n      ghcr.io:\n        auth: {username: ada, password: canary-pass-1234}\n",
			})
			genconfig(t, dir, "")
			r := repository(t)
			if importTalhelper(t, r, os.DirFS(dir)).Nodes != 5 {
				t.Error("not all nodes were imported")
			}
		})
	}
}
