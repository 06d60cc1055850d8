package render_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
)

// randomRepo is the content of a random small environment of the canaries:
// topology, plain variables, and patches on all layers.
type randomRepo struct {
	*rand.Rand
	contract string
	pools    []string
	cluster  string            // cluster.yaml
	patches  map[string]string // by path in the repository

	encrypted map[string]string // those that were encrypted
}

func newRandomRepo(seed uint64, faulty bool) *randomRepo {
	g := &randomRepo{Rand: rand.New(rand.NewPCG(seed, 1)), patches: map[string]string{}, encrypted: map[string]string{}}
	g.contract = one(g, "v1.12", "v1.13", "v1.14")
	g.pools = append(g.pools, []string{"worker", "storage", "gpu"}[:g.IntN(3)]...)
	g.topology()
	for range 2 + g.IntN(8) {
		name := g.place() + fmt.Sprintf("/p%d.yaml", g.IntN(4))
		if strings.HasPrefix(name, "envs/") && g.IntN(4) == 0 {
			name = strings.TrimSuffix(name, ".yaml") + one(g, ".sops.yaml", ".part.sops.yaml")
		}
		g.patches[name] = g.patch()
		if strings.HasSuffix(name, ".sops.yaml") {
			g.patches[name] = withoutTags.Replace(g.patches[name])
		}
	}
	if faulty {
		names := slices.Sorted(maps.Keys(broken))
		g.patches[g.place()+"/q.yaml"] = broken[names[g.IntN(len(names))]]
	}
	return g
}

// withoutTags leaves out directives: SOPS keeps no tags, so encrypted patches
// have none.
var withoutTags = strings.NewReplacer("y: !delete }", "y: 3.5 }", "!replace ", "", "!delete", "deleted")

// one picks one of several.
func one[T any](g *randomRepo, of ...T) T { return of[g.IntN(len(of))] }

func (g *randomRepo) topology() {
	kubernetes := map[string]string{"v1.12": "1.34.0"}[g.contract]
	if kubernetes == "" {
		kubernetes = "1.36.3"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: talosgen.dev/v1alpha1\nclusterName: canary\nendpoint: https://10.0.0.%d:6443\n", 1+g.IntN(200))
	fmt.Fprintf(&b, "talos:\n  version: v1.14.1\n  configContract: %s\nkubernetes:\n  version: %s\n", g.contract, kubernetes)
	if g.IntN(2) == 0 {
		b.WriteString("network:\n  nodeCidrs: [10.0.64.0/19]\n  podCidrs: [10.0.128.0/17]\n")
	}
	b.WriteString("hetzner:\n  region: hel1\n  networkZone: eu-central\n")
	fmt.Fprintf(&b, "nodes:\n  controlPlane:\n    count: %d\n    type: cpx22\n", one(g, 1, 3))
	g.options(&b, "    ")
	if len(g.pools) > 0 {
		b.WriteString("  workers:\n    nodepools:\n")
	}
	for i, pool := range g.pools {
		fmt.Fprintf(&b, "      - name: %s\n        count: %d\n        offset: %d\n        type: cpx22\n", pool, 1+g.IntN(2), 10*i)
		g.options(&b, "        ")
	}
	g.cluster = b.String()
}

// options are labels, annotations and taints of a pool.
func (g *randomRepo) options(b *strings.Builder, indent string) {
	if g.IntN(2) == 0 {
		fmt.Fprintf(b, "%slabels: {example.com/a: x%d, example.com/b: \"${PLAIN}\"}\n", indent, g.IntN(9))
	}
	if g.IntN(3) == 0 {
		fmt.Fprintf(b, "%sannotations: {example.com/note: some text}\n", indent)
	}
	if g.IntN(3) == 0 {
		fmt.Fprintf(b, "%staints: ['example.com/dedicated=x%d:NoSchedule']\n", indent, g.IntN(9))
	}
}

// place is the directory of a layer.
func (g *randomRepo) place() string {
	places := []string{
		"patches/common", "patches/controlplane", "envs/canary/patches/common", "envs/canary/patches/controlplane",
		"envs/canary/patches/pools/control-plane", "envs/canary/patches/nodes/canary-control-plane-1",
	}
	for _, pool := range g.pools {
		places = append(places, "patches/worker", "envs/canary/patches/worker", "envs/canary/patches/pools/"+pool, "envs/canary/patches/nodes/canary-"+pool+"-1")
	}
	return one(g, places...)
}

// filesOf lists the patches of a node in the documented order.
func (g *randomRepo) filesOf(role, pool, node string) []string {
	var files []string
	for _, dir := range []string{
		"patches/common", "patches/" + role, "envs/canary/patches/common", "envs/canary/patches/" + role,
		"envs/canary/patches/pools/" + pool, "envs/canary/patches/nodes/" + node,
	} {
		for _, name := range slices.Sorted(maps.Keys(g.patches)) {
			if path.Dir(name) == dir {
				files = append(files, name)
			}
		}
	}
	return files
}

// patch is a random patch of one to three documents.
func (g *randomRepo) patch() string {
	docs := []string{g.mainDocument()}
	for range g.IntN(3) {
		docs = append(docs, g.document())
	}
	g.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	seen := map[string]bool{}
	var kept []string
	for _, d := range docs {
		if id := identity(d); !seen[id] {
			seen[id] = true
			kept = append(kept, d)
		}
	}
	return strings.Join(kept, "---\n")
}

// identity is what a file may have once: the kind and the name.
func identity(doc string) string {
	var id string
	for line := range strings.Lines(doc) {
		if strings.HasPrefix(line, "kind:") || strings.HasPrefix(line, "name:") {
			id += line
		}
	}
	return id
}

// text is a random scalar, with variables and without.
func (g *randomRepo) text() string {
	return one(g, "plain", "${PLAIN}", "${PASSWORD}", "x-${WORD}-y", `"${PORT}"`, "${NODE_NAME}", "${NODE_ROLE}-${NODE_POOL}",
		"'quoted: text'", "${SHORT}", "${UNICODE}", "${NOTHING:-default}", "$${LITERAL}", `"tab\tand ü"`, "${HOST}", "${BASE64}")
}

func (g *randomRepo) key() string { return one(g, "a", "b", "c", "d.e/f", "g") }

// mainDocument sets and removes things under machine: that all contracts have.
func (g *randomRepo) mainDocument() string {
	var b strings.Builder
	b.WriteString("machine:\n  sysctls:\n")
	for _, key := range []string{"net.a", "net.b", "vm.c"} {
		if g.IntN(2) == 0 {
			fmt.Fprintf(&b, "    %s: %s\n", key, g.text())
		}
	}
	b.WriteString("    always: x\n")
	if g.IntN(2) == 0 {
		fmt.Fprintf(&b, "  certSANs: %s[%s, n%d.example.com]\n", one(g, "", "", "!replace "), one(g, `"${HOST}"`, "fixed.example.com", `"${NODE_NAME}"`), g.IntN(99))
	}
	if g.contract == "v1.14" {
		return b.String()
	}
	if g.IntN(2) == 0 {
		fmt.Fprintf(&b, "  env:\n    %s: %s\n    %s2: %s\n", g.key(), one(g, g.text(), "!delete"), g.key(), g.text())
	}
	if g.IntN(3) == 0 {
		fmt.Fprintf(&b, "  nodeAnnotations:\n    example.com/%s: %s\n", one(g, "a", "note"), g.text())
	}
	if g.IntN(4) == 0 {
		fmt.Fprintf(&b, "  files:\n    - path: /var/etc/f%d\n      permissions: 0o600\n      op: create\n      content: |\n        first ${PASSWORD}\n        %s\n", g.IntN(3), g.text())
	}
	if g.IntN(4) == 0 {
		fmt.Fprintf(&b, "  kubelet:\n    extraArgs:\n      v: \"%d\"\n    extraConfig:\n      maxPods: ${PORT}\n      nested: {x: [%d, true, null, %s], y: %s }\n", g.IntN(9), g.IntN(9), `"${SHORT}"`, one(g, "1.5", "!delete", "2.5"))
	}
	return b.String()
}

// document is a document of a kind of its own.
func (g *randomRepo) document() string {
	head := func(kind, name string) string {
		text := "apiVersion: v1alpha1\nkind: " + kind + "\n"
		if name != "" {
			text += "name: " + name + "\n"
		}
		return text
	}
	switch g.IntN(6) {
	case 0:
		return head("ExtensionServiceConfig", one(g, "one", "two", "${WORD}")) +
			fmt.Sprintf("environment: %s[A=%d, \"B=${PASSWORD}\"]\n", one(g, "", "!replace "), g.IntN(9))
	case 1:
		return head("KmsgLogConfig", one(g, "one", "two")) + fmt.Sprintf("url: udp://%s:%s/\n", one(g, "10.0.0.1", "${HOST}"), one(g, "500", "${PORT}"))
	case 2:
		return head("TimeSyncConfig", "") + "bootTimeout: " + one(g, "2m", "${PERIOD}") + "\nntp:\n  servers: [time.example.com, \"${HOST}\"]\n"
	case 3:
		return head("RegistryAuthConfig", one(g, "registry.example.com", "ghcr.io")) + "username: " + g.text() + "\npassword: " + g.text() + "\n"
	case 4:
		return head("UserVolumeConfig", "data") + "provisioning:\n  diskSelector:\n    match: disk.size > " + one(g, "1u", "5u") + " * GiB\n  minSize: " + one(g, "1GiB", "2GiB") + "\n"
	default:
		return head("WatchdogTimerConfig", "") + "device: /dev/watchdog" + one(g, "0", "1") + "\ntimeout: " + one(g, "1m", "2m", "${PERIOD}") + "\n"
	}
}
