package render_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
)

// broken are patches that are wrong where a secret is, by the name of their
// file: *.sops.yaml are encrypted whole, *.part.sops.yaml in part. A name that
// starts with 1.14 is for that contract, others for 1.13.
var broken = map[string]string{
	// Values of the wrong type, beside secrets and in their place.
	"text for a number":         "machine:\n  kubelet:\n    extraConfig: ${PASSWORD}\n",
	"text for a boolean":        "machine:\n  install:\n    wipe: ${PASSWORD}\n",
	"text for a mapping":        "machine:\n  sysctls: ${LINES}\n",
	"text for a list":           "machine:\n  certSANs: ${HOST}\n",
	"text for a document":       "${PASSWORD}\n",
	"a list of secrets":         "- ${PASSWORD}\n- ${LINES}\n",
	"number for a mapping":      "machine:\n  sysctls: ${PORT}\n",
	"mapping for a text":        "machine:\n  token: {a: \"${PASSWORD}\"}\n",
	"list for a text":           "machine:\n  env:\n    A: [\"${PASSWORD}\", \"${LINES}\"]\n",
	"bad duration":              "apiVersion: v1alpha1\nkind: TimeSyncConfig\nbootTimeout: ${PASSWORD}\n",
	"short bad duration":        "apiVersion: v1alpha1\nkind: TimeSyncConfig\nbootTimeout: ${SHORT}\n",
	"bad URL":                   "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: x\nurl: \"tcp://x:${PASSWORD}/\"\n",
	"bad URL with a bad escape": "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: x\nurl: \"https://%zz${HOST}\"\n",
	"URL with a bad port":       "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: x\nurl: \"https://host:port${WORD}/\"\n",
	"bad endpoint":              "cluster:\n  controlPlane:\n    endpoint: \"http://[${HOST}\"\n",
	"endpoint without a scheme": "cluster:\n  controlPlane:\n    endpoint: ${HOST}\n",
	"bad address":               "machine:\n  network:\n    interfaces:\n      - interface: eth0\n        addresses: [\"${HOST}\"]\n",
	"bad route":                 "machine:\n  network:\n    interfaces:\n      - interface: eth0\n        routes:\n          - network: ${WORD}\n            gateway: ${HOST}\n",
	"bad MTU":                   "machine:\n  network:\n    interfaces:\n      - interface: ${WORD}\n        mtu: ${HOST}\n",
	"bad permissions":           "machine:\n  files:\n    - path: ${HOST}\n      op: create\n      permissions: ${WORD}\n      content: ${PASSWORD}\n",
	"bad file operation":        "machine:\n  files:\n    - path: /x\n      op: ${WORD}\n      content: ${PASSWORD}\n",
	"bad certificate":           "machine:\n  ca:\n    crt: ${PASSWORD}\n    key: ${LINES}\n",
	"bad base64":                "cluster:\n  ca:\n    crt: \"${TOKEN}*\"\n",
	"bad bootstrap token":       "cluster:\n  token: ${PASSWORD}\n",
	"bad secretbox secret":      "cluster:\n  secretboxEncryptionSecret: ${PASSWORD}\n",
	"bad cluster secret":        "cluster:\n  id: ${WORD}\n  secret: ${HOST}\n",
	"bad machine type":          "machine:\n  type: ${WORD}\n",
	"bad install image":         "machine:\n  install:\n    image: \"${PASSWORD}\"\n    disk: ${WORD}\n",
	"bad pod subnet":            "cluster:\n  network:\n    podSubnets: !replace [\"${HOST}\"]\n",
	"bad DNS domain":            "cluster:\n  network:\n    dnsDomain: \"${PASSWORD}\"\n",
	"bad label":                 "machine:\n  nodeLabels:\n    example.com/x: \"${PASSWORD}\"\n",
	"bad taint":                 "machine:\n  nodeTaints:\n    example.com/x: \"${PASSWORD}\"\n",
	"bad hostname":              "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: \"${PASSWORD}\"\nauto: off\n",
	"bad nameserver":            "machine:\n  network:\n    nameservers: [\"${HOST}\"]\n",
	"bad time server":           "machine:\n  time:\n    servers: [\"${PASSWORD}\"]\n    bootTimeout: ${WORD}\n",
	"bad registry":              "machine:\n  registries:\n    mirrors:\n      docker.io:\n        endpoints: [\"${WORD}\"]\n",
	"bad registry auth":         "machine:\n  registries:\n    config:\n      docker.io:\n        auth: {password: [\"${PASSWORD}\"]}\n",
	"bad admission":             "cluster:\n  apiServer:\n    admissionControl:\n      - name: ${WORD}\n        configuration: ${PASSWORD}\n",
	"bad volume":                "apiVersion: v1alpha1\nkind: VolumeConfig\nname: ${WORD}\nprovisioning:\n  minSize: ${SHORT}\n",
	"bad volume name":           "apiVersion: v1alpha1\nkind: VolumeConfig\nname: ${WORD}\nprovisioning:\n  minSize: 1GiB\n",
	"bad expression":            "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\nprovisioning:\n  diskSelector:\n    match: disk.serial == ${PASSWORD}\n  minSize: 1GiB\n",
	"bad expression in part":    "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\nprovisioning:\n  diskSelector:\n    match: disk.nothing == '${HOST}'\n  minSize: 1GiB\n",
	"bad firewall rule":         "apiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: x\nportSelector:\n  ports: [\"${HOST}\"]\n  protocol: tcp\ningress:\n  - subnet: ${WORD}\n",
	"bad kubespan":              "machine:\n  network:\n    kubespan:\n      enabled: ${PASSWORD}\n",
	"bad wireguard":             "apiVersion: v1alpha1\nkind: WireguardConfig\nname: wg0\nprivateKey: \"${PASSWORD}\"\npeers:\n  - publicKey: ${TOKEN}\n    endpoint: ${HOST}\n",
	"bad wireguard again":       "machine:\n  network:\n    interfaces:\n      - interface: wg0\n        wireguard:\n          privateKey: ${TOKEN}\n          peers:\n            - publicKey: ${PASSWORD}\n              endpoint: ${URL}\n",
	"bad manifest":              "cluster:\n  inlineManifests:\n    - name: ${WORD}\n      contents: [\"${PASSWORD}\"]\n",
	"bad extension service":     "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: ${WORD}\nenvironment:\n  - \"${PASSWORD}\"\nconfigFiles:\n  - content: ${LINES}\n",
	// Keys, names and kinds.
	"unknown key":                "machine:\n  tokens: ${PASSWORD}\n",
	"unknown key in a list":      "machine:\n  files:\n    - path: ${HOST}\n      content: ${PASSWORD}\n      mode: ${LINES}\n",
	"secret key":                 "machine:\n  env:\n    ${WORD}: x\n",
	"secret keys twice":          "machine:\n  env:\n    ${WORD}: x\n    ${WORD:-x}: y\n",
	"secret kind":                "apiVersion: v1alpha1\nkind: ${WORD}\nname: x\n",
	"secret version":             "apiVersion: ${WORD}\nkind: HostnameConfig\n",
	"secret unknown name":        "apiVersion: v1alpha1\nkind: FutureConfig\nname: ${HOST}\nx: !replace [\"${PASSWORD}\"]\n",
	"unknown key, secret name":   "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: ${HOST}\nenvironments: [A=b]\n",
	"document twice":             "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: ${HOST}\n---\napiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: ${HOST}\n",
	"no kind":                    "apiVersion: v1alpha1/x\nname: ${HOST}\n",
	"JSON6902":                   "- op: replace\n  path: /machine/token\n  value: ${PASSWORD}\n",
	"delete what":                "machine:\n  env: !delete\n    A: ${PASSWORD}\n  certSANs:\n    - !delete ${HOST}\n",
	"replace a value":            "machine:\n  token: !replace ${PASSWORD}\n",
	"patch delete of a secret":   "machine:\n  network:\n    interfaces:\n      - interface: ${HOST}\n        $patch: delete\n",
	"patch delete of a name":     "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: ${HOST}\n$patch: delete\n",
	"patch delete in a document": "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: service\nconfigFiles:\n  - mountPath: ${HOST}\n    $patch: delete\n",
	"patch of another kind":      "machine:\n  env:\n    A: ${PASSWORD}\n    $patch: ${WORD}\n",
	"tag":                        "machine:\n  env:\n    A: !secret ${PASSWORD}\n",
	"integer tag":                "machine:\n  env:\n    A: !!int ${PASSWORD}\n",
	"binary tag":                 "machine:\n  env:\n    A: !!binary ${PASSWORD}\n",
	"timestamp tag":              "machine:\n  env:\n    A: !!timestamp ${WORD}\n",
	// Substitution.
	"undefined":         "machine:\n  env:\n    A: ${PASSWORD}${PASSWORT}\n",
	"unclosed":          "machine:\n  env:\n    A: ${PASSWORD} ${LINES\n",
	"nested":            "machine:\n  env:\n    A: ${NOTHING:-${PASSWORD}}\n",
	"foreign":           "machine:\n  env:\n    A: ${PASSWORD} ${#LINES}\n",
	"not YAML":          "machine: [\"${PASSWORD}\"\n  x: ${LINES}\n",
	"empty beside":      "machine:\n  env: {}\n  kubelet: null\n  token: \"\"\n  certSANs: []\n  sysctls:\n    a: \"${PASSWORD}\"\n",
	"null in a list":    "machine:\n  certSANs:\n    - ${PASSWORD}\n    -\n",
	"zero over secrets": "machine:\n  token: \"\"\ncluster:\n  id: null\n  secret: \"\"\n",
	// What the vocabulary of 1.14 adds.
	"1.14 conflict":           "machine:\n  kubelet:\n    extraArgs:\n      v: \"${SHORT}\"\n    extraConfig:\n      a: ${PASSWORD}\n",
	"1.14 conflict with URLs": "machine:\n  registries:\n    mirrors:\n      docker.io:\n        endpoints: [\"https://user:${PASSWORD}@${HOST}\"]\n",
	"1.14 bad kubelet":        "apiVersion: v1alpha1\nkind: KubeletConfig\nextraArgs:\n  v: {a: \"${PASSWORD}\"}\nconfig: ${LINES}\n",
	"1.14 bad API server":     "apiVersion: v1alpha1\nkind: KubeAPIServerConfig\nextraArgs:\n  audit: [[\"${PASSWORD}\"]]\n",
	"1.14 bad registry":       "apiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: docker.io\nendpoints:\n  - url: ${WORD}\n",
	"1.14 bad identity":       "apiVersion: v1alpha1\nkind: DiscoveryIdentityConfig\nclusterID: ${WORD}\nclusterSecret: ${HOST}\n",
	"1.14 bad encryption":     "apiVersion: v1alpha1\nkind: KubeEncryptionConfig\nproviders: ${PASSWORD}\n",
	"1.14 bad log":            "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: ${HOST}\nurl: ${WORD}\n",
	"1.14 bad node":           "apiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels:\n  example.com/x: \"${PASSWORD}\"\ntaints:\n  x: ${HOST}\n",
}

// values are what the secret variables hold, for patches that are encrypted as
// they are and need no variables.
var plainly = strings.NewReplacer(
	`"${PASSWORD}"`, `"qzxkanarivogl95: 'x'"`, "${PASSWORD}", "qzxkanarivogl95 password", `"${LINES}"`, `"qzxkanarivogl95\nqzxkanarivogl95"`,
	"${LINES}", "qzxkanarivogl95 lines", "${HOST}", "qzxkanarivogl95.example.com", "${URL}", "https://qzxkanarivogl95:48271/",
	"${TOKEN}", "qzxkanarivogl95-token", "${SHORT}", "q~7", "${WORD}", "zq8w1", "${PORT}", "48271")

// Whatever is wrong with a patch, no message repeats a secret that is in it, be
// it there by a variable or because the patch is encrypted.
func TestCanariesInErrors(t *testing.T) {
	for _, form := range []string{"common/x.yaml", "common/x.sops.yaml", "common/x.part.sops.yaml", "nodes/canary-worker-1/x.yaml"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			repos := map[bool]*testRepo{false: markedRepo(t, "v1.13"), true: markedRepo(t, "v1.14")}
			for _, r := range repos {
				r.patch("common/extension.yaml", markedPatches["common/extension.yaml"])
			}
			refused := 0
			for name, text := range broken {
				r := repos[strings.HasPrefix(name, "1.14")]
				if form == "common/x.sops.yaml" {
					text = withoutKeyVariables(plainly.Replace(text))
				}
				if !r.tryPatch(form, text) {
					continue // sops cannot encrypt this
				}
				if err := mustHideInRender(t, name, r, "canary"); err != nil {
					refused++
				}
				r.removePatch(form)
			}
			if refused < 60 {
				t.Errorf("only %d of %d broken patches are refused", refused, len(broken))
			}
		})
	}
}

// withoutKeyVariables drops patches whose plain form would have the secret as a
// key or a kind: SOPS leaves keys readable.
func withoutKeyVariables(text string) string {
	if strings.Contains(text, "    zq8w1: ") {
		return ""
	}
	return text
}

// tryPatch adds a patch, and tells whether that can be.
func (r *testRepo) tryPatch(name, text string) bool {
	if strings.HasSuffix(name, ".sops.yaml") && !sopsTakes(text) {
		return false
	}
	r.patch(name, text)
	return true
}

func (r *testRepo) removePatch(name string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.root, "envs/canary/patches", name)); err != nil {
		r.t.Fatal(err)
	}
}

// mustHideInRender renders, with and without keys, and looks for secrets in all
// that comes of it.
func mustHideInRender(t *testing.T, what string, r *testRepo, env string) error {
	t.Helper()
	repo := r.open(operatorKeys()[0].private)
	defer repo.Close()
	res, err := repo.Render(context.Background(), env, render.Options{})
	mustHidePrinted(t, what+": the error", err)
	if res != nil {
		mustHidePrinted(t, what+": the warnings", res.Warnings)
		mustHidePrinted(t, what+": the result", res)
	}
	explained, explainErr := repo.Explain(context.Background(), env, env+"-worker-1", "")
	mustHidePrinted(t, what+": explain", explainErr)
	mustHidePrinted(t, what+": explain", explained)
	if err == nil {
		if _, err := repo.Write(res); err != nil {
			t.Error(err)
		}
		for name, text := range readTree(t, filepath.Join(r.root, "rendered")) {
			mustHideSecrets(t, what+": "+name, text)
		}
	}
	_, keyless := repo.Render(context.Background(), env, render.Options{Keyless: true})
	mustHidePrinted(t, what+": the error without keys", keyless)
	return err
}
