package render_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/chartlock"
	"github.com/talosgen/talosgen/render/vault"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// gitopsRepo is an environment whose addons Flux runs, with what gitops: holds.
func gitopsRepo(t *testing.T, options string) (*testRepo, string) {
	t.Helper()
	r, key := gatewayRepo(t)
	r.file("envs/prod/cluster.yaml", gatewayCluster+"gitops: {repository: \"https://git.example.com/a\", components: existing}\n")
	if options != "" {
		r.file("envs/prod/cluster.yaml", gatewayCluster+"gitops: {"+options+"}\n")
	}
	return r, key
}

// signerKey looks like what gpg exports.
const signerKey = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEZ/exampleexampleexample=\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n"

// cosignKey looks like what cosign public-key prints.
const cosignKey = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n"

// Each option of gitops is in what Flux is given.
func TestGitOps(t *testing.T) {
	const ociOptions = "components: existing, oci: {url: oci://ghcr.io/example/clusters"
	const argoOptions = "engine: argocd, repository: 'https://git.example.com/a', components: existing"
	const sshOptions = "repository: ssh://git@github.com/a/b.git, components: existing"
	for _, tt := range []struct{ name, options, file, want string }{
		{"repository", "", "flux/manifests.yaml", "  url: https://git.example.com/a\n"},
		{"branch", sshOptions + ", branch: live", "flux/manifests.yaml", "    branch: live\n"},
		{"path", sshOptions + ", path: a/b", "flux/manifests.yaml", "    !/a/b/addons/\n"},
		{"interval", sshOptions + ", interval: 7m", "flux/manifests.yaml", "  interval: \"7m\"\n"},
		{"deploy key", sshOptions, "flux/secret-talosgen-git.yaml", "  identity: "},
		{"auth", "repository: 'https://git.example.com/a', components: existing, auth: token", "flux/secret-talosgen-git.yaml", "  password: "},
		{"verifyKeys", sshOptions + ", verifyKeys: [\"" + strings.ReplaceAll(signerKey, "\n", "\\n") + "\"]", "flux/manifests.yaml", "  verify:\n    mode: HEAD\n    secretRef:\n      name: talosgen-git-signers\n"},
		{"signers", sshOptions + ", verifyKeys: [\"" + strings.ReplaceAll(signerKey, "\n", "\\n") + "\"]", "flux/secret-talosgen-git-signers.yaml", "  signer-1.asc: "},
		{"oci url", ociOptions + "}", "flux/manifests.yaml", "  ref:\n    tag: latest\n  url: oci://ghcr.io/example/clusters\n"},
		{"oci follows", ociOptions + "}", "flux/manifests.yaml", "  sourceRef:\n    kind: OCIRepository\n    name: talosgen\n"},
		{"oci ignores", ociOptions + "}", "flux/manifests.yaml", "    !/rendered/prod/addons/\n"},
		{"oci tag", ociOptions + ", tag: prod}", "flux/manifests.yaml", "  ref:\n    tag: prod\n"},
		{"oci semver", ociOptions + ", semver: 1.x}", "flux/manifests.yaml", "  ref:\n    semver: \"1.x\"\n"},
		{"oci digest", ociOptions + ", digest: 'sha256:" + strings.Repeat("0", 64) + "'}", "flux/manifests.yaml", "  ref:\n    digest: sha256:" + strings.Repeat("0", 64) + "\n  url"},
		{"oci insecure", ociOptions + ", insecure: true}", "flux/manifests.yaml", "  insecure: true\n"},
		{"oci login", ociOptions + ", user: reader}", "flux/secret-talosgen-oci.yaml", "type: kubernetes.io/dockerconfigjson\n"},
		{"oci login is used", ociOptions + ", user: reader}", "flux/manifests.yaml", "  secretRef:\n    name: talosgen-oci\n"},
		{"oci keys", ociOptions + ", verifyKeys: [\"" + strings.ReplaceAll(cosignKey, "\n", "\\n") + "\"]}", "flux/manifests.yaml", "  verify:\n    provider: cosign\n    secretRef:\n      name: talosgen-oci-signers\n"},
		{"oci signers", ociOptions + ", verifyKeys: [\"" + strings.ReplaceAll(cosignKey, "\n", "\\n") + "\"]}", "flux/secret-talosgen-oci-signers.yaml", "  signer-1.pub: "},
		{"oci identities", ociOptions + ", verifyIdentities: [{issuer: '^https://token.example.com$', subject: '^https://git.example.com/.*$'}]}", "flux/manifests.yaml",
			"  verify:\n    matchOIDCIdentity:\n    - issuer: \"^https://token.example.com$\"\n      subject: \"^https://git.example.com/.*$\"\n    provider: cosign\n"},
		{"oci is told of", ociOptions + "}, notifications: [{name: a, type: alertmanager, address: 'http://a.b/'}]", "addons/controllers/flux-notifications/manifests.yaml", "  - kind: Kustomization\n    name: \"*\"\n  - kind: OCIRepository\n"},
		{"argocd", argoOptions, "bootstrap/argocd/manifests.yaml", "      prune: true\n      selfHeal: true\n"},
		{"argocd auth", argoOptions + ", auth: token", "bootstrap/argocd/secret-talosgen-git.yaml", "  password: "},
		{"argocd namespace", argoOptions + ", argocd: {namespace: gitops}", "argocd/manifests.yaml", "  namespace: gitops\n"},
		{"argocd prune", argoOptions + ", argocd: {prune: false}", "argocd/manifests.yaml", "      prune: false\n      selfHeal: true\n"},
		{"argocd selfHeal", argoOptions + ", argocd: {selfHeal: false}", "argocd/manifests.yaml", "      prune: true\n      selfHeal: false\n"},
		{"engine", "engine: none", "bootstrap/metrics-server/manifests.yaml", "kind: Deployment\n"},
		{"existing components", sshOptions, "flux/kustomization.yaml", "resources:\n- manifests.yaml\n- secret-talosgen-git.yaml\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, key := gitopsRepo(t, tt.options)
			r.variables("prod", key, "    GIT_TOKEN: qzxkanarivogl95git\n    OCI_TOKEN: qzxkanarivogl95oci\n")
			repo := r.open(key)
			if _, err := vault.Sync(context.Background(), repo, "prod"); err != nil {
				t.Fatal(err)
			}
			res := mustRender(t, repo, "prod", render.Options{})
			if text := res.Text(tt.file); !strings.Contains(text, tt.want) {
				t.Errorf("%s: %v\n%s", tt.file, res.Files(), text)
			}
			for _, file := range res.Files() {
				mustHideSecrets(t, file, res.Text(file))
			}
		})
	}
}

// What Flux shows the Git server is what cluster.yaml says, and the key that
// secrets sync printed; real sops decrypts it, with the key of the cluster too.
func TestGitCredentials(t *testing.T) {
	key := operatorKeys()[0].private
	r := newRepo(t).operators(map[string]string{"prod": operatorKeys()[0].public})
	r.file("envs/prod/cluster.yaml", gatewayCluster+"gitops: {repository: ssh://git@git.example.com/a, components: existing, knownHosts: [git.example.com ssh-ed25519 AAAA]}\n")
	repo := openWorld(t, r.root, world(t, map[string]string{"SOPS_AGE_KEY": key})) // its keys are random
	if _, err := vault.Init(context.Background(), repo, "prod"); err != nil {
		t.Fatal(err)
	}
	r.variables("prod", key, "    HCLOUD_TOKEN: qzxkanarivogl95hcloudtoken\n")
	report, err := vault.Sync(context.Background(), repo, "prod")
	if err != nil || len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "ssh://git@git.example.com/a") {
		t.Fatalf("%+v, %v", report, err)
	}
	_, public, _ := strings.Cut(report.Notes[0], "\n")
	mustWrite(t, repo, "prod")
	plain, err := r.decrypted("envs/prod/secrets.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, clusterKey, _ := strings.Cut(plain, "clusterAgeKey: ")
	clusterKey, _, _ = strings.Cut(clusterKey, "\n")
	file := r.root + "/rendered/prod/flux/secret-talosgen-git.yaml"
	for _, private := range []string{key, clusterKey} {
		for name, want := range map[string]string{"identity.pub": public + "\n", "known_hosts": "git.example.com ssh-ed25519 AAAA\n"} {
			out, err := run([]string{"SOPS_AGE_KEY=" + private}, toolenv.Sops(t), "-d", "--extract", `["data"]["`+name+`"]`, file)
			if err != nil || out != base64.StdEncoding.EncodeToString([]byte(want)) {
				t.Errorf("%s: %q, %v", name, out, err)
			}
		}
	}
	// With the key of the cluster, nothing else is read.
	for _, other := range []string{"bootstrap/hcloud-ccm/secret-hcloud.yaml", "bootstrap/flux/secret-sops-age.yaml", "bootstrap/cluster-autoscaler/secret-cluster-autoscaler-hetzner-config.yaml", "nodes/prod-control-plane-1.yaml"} {
		if _, err := run([]string{"SOPS_AGE_KEY=" + clusterKey}, toolenv.Sops(t), "-d", r.root+"/rendered/prod/"+other); err == nil {
			t.Errorf("the cluster reads %s", other)
		}
	}
	again, err := vault.Sync(context.Background(), repo, "prod")
	if err != nil || len(again.Changed) > 0 || !strings.Contains(again.Notes[0], public) {
		t.Errorf("a second sync: %+v, %v", again, err)
	}
}

// Managed components are in the tree, from the manifest that charts.lock pins;
// without it, a render says what to do.
func TestManagedFlux(t *testing.T) {
	const url = "https://github.com/fluxcd/flux2/releases/download/v2.9.5/install.yaml"
	const install = `apiVersion: v1
kind: Namespace
metadata: {name: flux-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kustomizations.kustomize.toolkit.fluxcd.io}
spec: {group: kustomize.toolkit.fluxcd.io, scope: Namespaced, names: {kind: Kustomization, plural: kustomizations}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller, namespace: flux-system}
spec: {selector: {matchLabels: {app: kustomize-controller}}, template: {metadata: {labels: {app: kustomize-controller}}, spec: {containers: [{name: manager, image: example.com/a:1}]}}}
`
	r, key := gitopsRepo(t, "repository: 'https://git.example.com/a', components: managed")
	_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
	if err == nil || !strings.Contains(err.Error(), "charts/charts.lock: has no "+url) {
		t.Fatalf("got %v", err)
	}
	entry := chartlock.Entry{Reference: chartlock.Reference{URL: url}, Digest: chartlock.Digest([]byte(install))}
	lock, err := (&chartlock.Lock{Entries: []chartlock.Entry{entry}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	r.file(chartlock.File, string(lock))
	r.file(chartlock.Dir+"/"+entry.FileName(), install)
	res := mustRender(t, r.open(key), "prod", render.Options{})
	text := res.Text("flux/components.yaml")
	for _, want := range []string{"kind: Namespace", "kind: CustomResourceDefinition", "kind: Deployment", "substitute: disabled", "node-role.kubernetes.io/control-plane"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
	if list := res.Text("flux/kustomization.yaml"); !strings.Contains(list, "- components.yaml\n") {
		t.Errorf("got %s", list)
	}
}

func TestGitOpsProblems(t *testing.T) {
	for _, tt := range []struct{ options, want string }{
		{"repository: ssh://git@github.com/a, components: existing", "has no deploy key (deployKey:) for ssh://git@github.com/a\n  `talosgen secrets sync prod` makes one"},
		{"repository: ssh://git@git.example.com/a, components: existing", "the public keys of git.example.com are not known"},
		{"repository: 'https://github.com/a', auth: token, components: existing", "needs the secret variable GIT_TOKEN"},
	} {
		r, key := gitopsRepo(t, tt.options)
		_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.options, err)
		}
		if _, err := r.open("").Render(context.Background(), "prod", render.Options{Keyless: true}); err != nil && strings.Contains(err.Error(), "deploy key") {
			t.Errorf("%s: without keys: %v", tt.options, err)
		}
	}
}
