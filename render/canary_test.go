package render_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// markedVariables are secret variables of every kind: with what YAML, JSON and
// shells treat specially, of several lines, of few characters, numbers.
const markedVariables = `
    PASSWORD: 'qzxkanarivogl95: "quoted" # {x} [y] \ $HOME & ''qzxkanarivogl95'''
    LINES: "first qzxkanarivogl95\nsecond \"qzxkanarivogl95\"\n\tthird qzxkanarivogl95\n"
    UNICODE: "ü qzxkanarivogl95 ✓ \u0007"
    HOST: qzxkanarivogl95.example.com
    URL: https://user:qzxkanarivogl95@qzxkanarivogl95.example.com:48271/qzxkanarivogl95?x=qzxkanarivogl95
    BASE64: cXp4a2FuYXJpdm9nbDk1cXp4a2FuYXJpdm9nbDk1MTI=
    SHORT: q~7
    WORD: zq8w1
    PORT: 48271
    PERIOD: 7m13s
    SIGN: §
`

// markedEnv is cluster.sops.env before it is encrypted.
const markedEnv = "TOKEN=qzxkanarivogl95-token\nQUOTED=\"qzxkanarivogl95 \\\"x\\\"\"\n"

// markedPatches hold secrets in every way in which a patch can, in the
// vocabulary that all contracts share. Those named *.sops.yaml are encrypted
// whole, *.part.sops.yaml in part.
var markedPatches = map[string]string{
	"common/variables.yaml": `machine:
  env:
    PLAIN: ${PASSWORD}
    PART: --password=${PASSWORD}
    SHORT: ${SHORT}
    SIGN: ${SIGN}
  sysctls:
    net.core.somaxconn: "${PORT}"
    kernel.domainname: ${WORD}
  files:
    - path: /var/etc/secret
      permissions: 0o600
      op: create
      content: |
        password = ${PASSWORD}
        lines = ${LINES}
  certSANs: ["${HOST}", readable.example.com]
  logging:
    destinations:
      - endpoint: tcp://${HOST}:${PORT}/
        format: json_lines
`,
	"common/anchors.yaml": `machine:
  nodeAnnotations:
    example.com/first: &first ${SHORT}
    example.com/second: *first
  nodeLabels: &labels
    example.com/word: ${WORD}
  kubelet:
    extraConfig:
      <<: {clusterDomain: "${SHORT}"}
      clusterDNS: [&dns "${SIGN}", *dns]
`,
	"common/extension.yaml": `apiVersion: v1alpha1
kind: ExtensionServiceConfig
name: service
configFiles:
  - content: |-
      token: ${TOKEN}
      ${LINES}
    mountPath: /etc/service
environment:
  - TOKEN=${TOKEN}
  - SHORT=${SHORT}
`,
	"common/named.yaml": `apiVersion: v1alpha1
kind: ExtensionServiceConfig
name: ${WORD}
environment:
  - A=${UNICODE}
`,
	"common/whole.sops.yaml": `apiVersion: v1alpha1
kind: ExtensionServiceConfig
name: qzxkanarivogl95
environment:
    - A=qzxkanarivogl95
    - B=q~7
configFiles:
    - mountPath: /etc/zq8w1
      content: |
        qzxkanarivogl95 "x"
`,
	"common/whole2.sops.yaml": `machine:
    # a comment about qzxkanarivogl95
    env:
        WHOLE: qzxkanarivogl95
        TINY: q~7
    files:
        - path: /var/etc/octal
          permissions: 0o640
          op: create
          content: x
    kubelet:
        extraConfig:
            shutdownGracePeriod: 7m13s
            imageGCHighThresholdPercent: 0x50
            cpuCFSQuotaPeriod: 1.50
            maxPods: 48271
            enableDebuggingHandlers: true
            evictionHard:
                memory.available: ${WORD}
---
apiVersion: v1alpha1
kind: KmsgLogConfig
name: remote
url: tcp://qzxkanarivogl95.example.com:48271/
`,
	"common/part.part.sops.yaml": `apiVersion: v1alpha1
kind: RegistryAuthConfig
name: registry.example.com
username: readable
password: 'qzxkanarivogl95 "part"'
`,
	"worker/wireguard.sops.yaml": `apiVersion: v1alpha1
kind: WireguardConfig
name: wg0
privateKey: cXp4a2FuYXJpdm9nbDk1cXp4a2FuYXJpdm9nbDk1MTI=
listenPort: 48271
peers:
    - publicKey: cXp4a2FuYXJpdm9nbDk1cXp4a2FuYXJpdm9nbDk1MTI=
      endpoint: 192.0.2.71:48271
      persistentKeepaliveInterval: 7m13s
      allowedIPs:
        - 10.200.0.0/24
addresses:
    - address: 10.200.0.7/24
`,
	"nodes/canary-worker-2/replace.yaml": `machine:
  certSANs: !replace ["${HOST}"]
  env:
    PLAIN: readable again
    PART: !delete
`,
	"controlplane/manifests.yaml": `cluster:
  inlineManifests:
    - name: secret
      contents: |
        apiVersion: v1
        kind: Secret
        metadata:
          name: ${WORD}
        stringData:
          password: ${PASSWORD}
          lines: |
            ${LINES}
        data:
          b: ${BASE64}
`,
}

// legacyOnly are the patches that contract 1.14 has other documents for.
var legacyOnly = map[string]bool{"common/variables.yaml": true, "common/anchors.yaml": true, "common/whole2.sops.yaml": true}

// markedRepo makes the environment of the canaries.
func markedRepo(t testing.TB, contract string) *testRepo {
	t.Helper()
	key := operatorKeys()[0]
	r := newRepo(t).operators(map[string]string{"canary": key.public})
	r.environment("canary", contract).initSecrets("canary", key.private).variables("canary", key.private, markedVariables)
	r.encrypted("envs/canary/cluster.sops.env", markedEnv)
	return r
}

// fullyMarkedRepo makes it with all patches that the contract has a place for.
func fullyMarkedRepo(t testing.TB, contract string) *testRepo {
	t.Helper()
	r := markedRepo(t, contract)
	for name, text := range markedPatches {
		if contract != "v1.14" || !legacyOnly[name] {
			r.patch(name, text)
		}
	}
	return r
}

// patch adds a patch, encrypted if its name says so.
func (r *testRepo) patch(name, text string) *testRepo {
	r.t.Helper()
	name = "envs/canary/patches/" + name
	if strings.HasSuffix(name, ".sops.yaml") {
		return r.encrypted(name, text)
	}
	return r.file(name, text)
}

// Every secret of an environment is marked; the marker is in nothing that
// talosgen writes, reports or prints.
func TestCanaries(t *testing.T) {
	for _, contract := range []string{"v1.9", "v1.13", "v1.14"} {
		t.Run(contract, func(t *testing.T) {
			r := fullyMarkedRepo(t, contract)
			repo := r.open(operatorKeys()[0].private)
			res := mustRender(t, repo, "canary", render.Options{})
			mustHidePrinted(t, "the result", res)
			summary, err := repo.Write(res)
			if err != nil {
				t.Fatal(err)
			}
			mustHidePrinted(t, "the summary", summary)
			inspectAll(t, repo, res)
			for name, text := range readTree(t, r.root) {
				mustHideSecrets(t, name, text)
			}
			r.rotate()
			after := mustRender(t, repo, "canary", render.Options{})
			changes, err := repo.Diff(context.Background(), after)
			if err != nil || len(changes) == 0 {
				t.Fatalf("diff: %v, %v", changes, err)
			}
			mustHidePrinted(t, "diff", changes)
			mustHideSecrets(t, "the repository", fmt.Sprintf("%+v", repo))
		})
	}
}

// rotate changes some of the secrets, and who may see what.
func (r *testRepo) rotate() {
	r.t.Helper()
	key := operatorKeys()[0].private
	_, err := vault.Edit(context.Background(), r.open(key), "canary", func(plain []byte) ([]byte, error) {
		return []byte(strings.NewReplacer("PASSWORD: '", "PASSWORD: 'new ", "WORD: zq8w1", "WORD: zq8w1x", "SHORT: q~7", "SHORT: q~77").Replace(string(plain))), nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.patch("common/part.part.sops.yaml", strings.Replace(markedPatches["common/part.part.sops.yaml"], `"part"`, `"changed"`, 1))
	r.patch("common/public.yaml", "apiVersion: v1alpha1\nkind: RegistryAuthConfig\nname: registry.example.com\nusername: ${WORD}\n")
}

// inspectAll asks everything that can be asked about a rendered environment.
func inspectAll(t *testing.T, repo *render.Repo, res *render.Result) {
	t.Helper()
	ctx := context.Background()
	differences, err := repo.Check(res.Env)
	if err != nil || len(differences) > 0 {
		t.Errorf("check: %v, %v", differences, err)
	}
	if changes, err := repo.Diff(ctx, res); err != nil || len(changes) > 0 {
		t.Errorf("diff: %v, %v", changes, err)
	}
	for _, n := range res.Nodes {
		explained, err := repo.Explain(ctx, res.Env, n.Name, "")
		if err != nil || len(explained) < 20 {
			t.Fatalf("explain: %d values, %v", len(explained), err)
		}
		mustHidePrinted(t, "explain "+n.Name, explained)
		for _, x := range explained {
			mustHideSecrets(t, "explain "+n.Name, x.Name())
		}
		for _, path := range []string{"machine.nothing", "ExtensionServiceConfig", "cluster.token.x", "ExtensionServiceConfig/zq8"} {
			_, err := repo.Explain(ctx, res.Env, n.Name, path)
			mustHidePrinted(t, "explain "+path, err)
		}
		shown, err := repo.Show(ctx, res.Env, n.Name, false)
		if err != nil || !strings.Contains(string(shown), secret.Mask) {
			t.Errorf("show: %v", err)
		}
		mustHideSecrets(t, "show "+n.Name, string(shown))
		if strings.Contains(string(shown), "ENC[") {
			t.Errorf("show %s prints ciphertext", n.Name)
		}
		revealed, err := repo.Show(ctx, res.Env, n.Name, true)
		if err != nil || findMarker(string(revealed)) == "" {
			t.Errorf("show --reveal of %s shows no secret: %v", n.Name, err)
		}
	}
}

// mustHidePrinted fails the test if a value shows a secret, printed in any way.
func mustHidePrinted(t testing.TB, where string, value any) {
	t.Helper()
	mustHideSecrets(t, where, fmt.Sprintf("%v\n%+v\n%#v", value, value, value))
	if err, ok := value.(error); ok {
		for _, p := range problemsOf(err) {
			mustHideSecrets(t, where, fmt.Sprintf("%s\n%s\n%s\n%+v\n%#v", p.Error(), p.Message, p.Hint, *p, *p))
			for cause := p.Err; cause != nil; cause = nil {
				mustHideSecrets(t, where+" (cause)", fmt.Sprintf("%v\n%+v", cause, cause))
			}
		}
	}
	if text, err := json.Marshal(value); err == nil {
		mustHideSecrets(t, where+" as JSON", string(text))
	}
}

// Nothing is left over outside of the repository either.
func TestCanariesLeaveNoFiles(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	r := markedRepo(t, "v1.13").patch("common/whole2.sops.yaml", markedPatches["common/whole2.sops.yaml"])
	before, err := os.ReadDir(filepath.Dir(r.root))
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, r.open(operatorKeys()[0].private), "canary")
	after, err := os.ReadDir(filepath.Dir(r.root))
	if err != nil || len(after) != len(before) {
		t.Errorf("beside the repository: %v, %v", after, err)
	}
	for name, text := range readTree(t, tmp) {
		mustHideSecrets(t, name, text)
	}
}

// The masker, which stands between everything that is printed and the outside,
// knows every secret of a run: of the bundle, of variables, of encrypted
// patches; and of those only what is encrypted in them.
func TestMaskerKnowsEverySecret(t *testing.T) {
	r := markedRepo(t, "v1.13").
		patch("common/x.part.sops.yaml", "apiVersion: v1alpha1\nkind: RegistryAuthConfig\nname: readable.example.com\nusername: readable user\npassword: known to one patch only\n").
		patch("nodes/canary-worker-2/y.sops.yaml", "machine:\n  env:\n    A: known to one node only\n").
		moreVariables("    MORE: known as a variable\n")
	w := world(t, map[string]string{"SOPS_AGE_KEY": operatorKeys()[0].private})
	w.Masker = secret.NewMasker()
	mustRender(t, openWorld(t, r.root, w), "canary", render.Options{})
	for _, text := range []string{"known to one patch only", "known to one node only", "known as a variable", marker + "-token"} {
		if masked := w.Masker.String("panic: " + text); masked != "panic: "+secret.Mask {
			t.Errorf("%q becomes %q", text, masked)
		}
	}
	const readable = "readable.example.com: readable user, canary-worker-2, RegistryAuthConfig"
	if masked := w.Masker.String(readable); masked != readable {
		t.Errorf("%q becomes %q", readable, masked)
	}
}
