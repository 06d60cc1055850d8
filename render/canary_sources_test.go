package render_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/convert"
	"github.com/talosgen/talosgen/render/vault"
)

// spoiled are ways to break the sources of an environment where secrets are:
// what is in encrypted files, files that were changed after they were
// encrypted, keys, and variables where none may be.
var spoiled = map[string]func(*testRepo){
	// The content of secrets.sops.yaml.
	"no bundle":             secretsText("talos: qzxkanarivogl95\n"),
	"empty bundle":          secretsText("talos: {}\n"),
	"unknown bundle key":    secretsText("talos:\n    cluster: {id: qzxkanarivogl95, secrets: qzxkanarivogl95}\n"),
	"bundle of wrong types": secretsText("talos:\n    cluster: qzxkanarivogl95\n    secrets: [qzxkanarivogl95]\n    certs: {etcd: qzxkanarivogl95}\n"),
	"bundle, bad base64":    secretsText("talos:\n    certs: {etcd: {crt: 'qzxkanarivogl95*', key: 48271}}\n"),
	"half a bundle":         secretsText("talos:\n    cluster: {id: qzxkanarivogl95, secret: qzxkanarivogl95}\n"),
	"bundle at the root":    secretsText("cluster: {id: qzxkanarivogl95}\nsecrets: {bootstraptoken: qzxkanarivogl95}\n"),
	"variables as a list":   secretsText("variables: [qzxkanarivogl95]\n"),
	"variables as a text":   secretsText("variables: qzxkanarivogl95\n"),
	"nested variable":       secretsText("variables: {A: {B: qzxkanarivogl95}, C: [q~7]}\n"),
	"key as a mapping":      secretsText("clusterAgeKey: {a: qzxkanarivogl95}\nkeyringBinding: [qzxkanarivogl95]\n"),
	"bad cluster key": func(r *testRepo) {
		r.secretsReplace("AGE-SECRET-KEY-1", "AGE-SECRET-KEY-2QZXKANARIVOGL95")
	},
	"other binding": func(r *testRepo) { r.secretsReplace("keyringBinding: ", "keyringBinding: qzxkanarivogl95") },
	"bad CA": func(r *testRepo) {
		r.secretsReplace("crt: LS0t", "crt: cXp4a2FuYXJpdm9nbDk1")
	},
	"bad token": func(r *testRepo) { r.secretsReplace("bootstraptoken: ", "bootstraptoken: '\"qzxkanarivogl95' #") },
	"bad cluster secret": func(r *testRepo) {
		r.secretsReplace("    secret: ", "    secret: qzxkanarivogl95")
	},
	// The content of cluster.sops.env.
	"variable in two files":  envText("PASSWORD=qzxkanarivogl95\n"),
	"variable in the clear":  func(r *testRepo) { r.file("envs/canary/cluster.env", "WORD=readable\n") },
	"reserved variable":      envText("NODE_NAME=qzxkanarivogl95\n"),
	"quote is not closed":    envText("A=\"qzxkanarivogl95\n"),
	"text behind a quote":    envText("A='qzxkanarivogl95'qzxkanarivogl95\n"),
	"unknown escape":         envText("A=\"qzxkanarivogl95\\q\"\n"),
	"name with a dash":       envText("A-B=qzxkanarivogl95\n"),
	"control characters":     envText("A=\x01qzxkanarivogl95\n"),
	"variable without users": envText("UNUSED=qzxkanarivogl95\n"),
	// Secret variables in cluster.yaml.
	"cluster name":   clusterText("clusterName: canary", "clusterName: ${WORD}"),
	"endpoint":       clusterText("endpoint: https://api.canary.example.com:6443", "endpoint: ${PASSWORD}"),
	"part of a URL":  clusterText("api.canary", "${WORD}"),
	"version":        clusterText("v1.14.1", "${WORD}"),
	"contract":       clusterText("configContract: v1.13", "configContract: ${SHORT}"),
	"region":         clusterText("hel1", "${PASSWORD}"),
	"count":          clusterText("count: 1", "count: ${PORT}"),
	"count as text":  clusterText("count: 1", "count: \"${PASSWORD}\""),
	"pool name":      clusterText("name: worker", "name: ${WORD}"),
	"labels":         clusterText("type: cpx22\n  workers", "labels: {a: \"${PASSWORD}\", \"${WORD}\": b}\n  workers"),
	"taints":         clusterText("type: cpx22\n  workers", "taints: [\"${PASSWORD}\"]\n  workers"),
	"whole mapping":  clusterText("talos:\n", "talos: ${LINES}\nx:\n"),
	"unknown key":    clusterText("hetzner:\n", "${WORD}: x\nhetzner:\n"),
	"key file":       clusterText("talos:\n", "secrets:\n  exampleKeyFile: ${WORD}\ntalos:\n"),
	"CIDRs":          clusterText("talos:\n", "network:\n  podCidrs: [\"${HOST}\"]\n  nodeCidrs: ${SHORT}\ntalos:\n"),
	"kernel args":    clusterText("kubernetes:", "  extraKernelArgs: [\"${PASSWORD}\"]\nkubernetes:"),
	"not YAML":       clusterText("talos:\n", "talos: [${PASSWORD}\n"),
	"undefined near": clusterText("hel1", "${PASSWORT}${PASSWORD}"),
	// Files that were changed after they were encrypted.
	"plaintext in secrets": changed("envs/canary/secrets.sops.yaml", "WORD: ENC[AES256_GCM", "WORD: qzxkanarivogl95 ENC[AES256_GCM"),
	"other value":          changed("envs/canary/secrets.sops.yaml", "PASSWORD: ENC[AES256_GCM,data:", "PASSWORD: ENC[AES256_GCM,data:AAAA"),
	"other type":           changed("envs/canary/secrets.sops.yaml", ",type:str]", ",type:int]"),
	"renamed key":          changed("envs/canary/secrets.sops.yaml", "  WORD: ", "  WARD: "),
	"added key":            changed("envs/canary/secrets.sops.yaml", "variables:", "more: qzxkanarivogl95\nvariables:"),
	"other MAC":            changed("envs/canary/secrets.sops.yaml", "mac: ENC[AES256_GCM,data:", "mac: ENC[AES256_GCM,data:AAAA"),
	"no sops block":        changed("envs/canary/secrets.sops.yaml", "\nsops:", "\nspos: # qzxkanarivogl95"),
	"plaintext secrets":    func(r *testRepo) { r.file("envs/canary/secrets.sops.yaml", markedBundle()) },
	"plaintext bundle":     func(r *testRepo) { r.file("envs/canary/secrets.yaml", markedBundle()) },
	"plaintext env":        func(r *testRepo) { r.file("envs/canary/cluster.sops.env", markedEnv) },
	"plaintext in env":     changed("envs/canary/cluster.sops.env", "TOKEN=ENC[", "TOKEN=qzxkanarivogl95 ENC["),
	"plaintext patch": func(r *testRepo) {
		r.file("envs/canary/patches/common/whole.sops.yaml", markedPatches["common/whole.sops.yaml"])
	},
	"plaintext in a patch": changed("envs/canary/patches/common/whole.sops.yaml", "ENC[AES256_GCM,data:", "qzxkanarivogl95 ENC[AES256_GCM,data:"),
	"changed patch":        changed("envs/canary/patches/common/whole.sops.yaml", "ENC[AES256_GCM,data:", "ENC[AES256_GCM,data:AAAA"),
	"conflict in a patch":  changed("envs/canary/patches/common/whole.sops.yaml", "\nsops:", "\n<<<<<<< qzxkanarivogl95\nsops:"),
	"other data key":       changed("envs/canary/keyring.yaml", "seal: ", "seal: AAAA"),
	"no keyring":           func(r *testRepo) { r.file("envs/canary/keyring.yaml", "other: qzxkanarivogl95\n") },
	"broken keyring":       func(r *testRepo) { r.file("envs/canary/keyring.yaml", "version: qzxkanarivogl95\ndomains: [\n") },
}

// accepted are those in which nothing is wrong that talosgen, or Talos, looks at.
var accepted = map[string]bool{"variable without users": true, "bad CA": true, "bad token": true, "bad cluster secret": true}

// secretsText makes the content of secrets.sops.yaml.
func secretsText(text string) func(*testRepo) {
	return func(r *testRepo) { r.encrypted("envs/canary/secrets.sops.yaml", text) }
}

// envText adds a variable to the content of cluster.sops.env.
func envText(text string) func(*testRepo) {
	return func(r *testRepo) { r.encrypted("envs/canary/cluster.sops.env", markedEnv+text) }
}

// clusterText replaces something in cluster.yaml.
func clusterText(old, text string) func(*testRepo) {
	return changed("envs/canary/cluster.yaml", old, text)
}

// changed replaces something in a file, once.
func changed(name, old, text string) func(*testRepo) {
	return func(r *testRepo) {
		before := readFile(r.t, r.root, name)
		after := strings.Replace(before, old, text, 1)
		if after == before {
			r.t.Fatalf("%s does not hold %q", name, old)
		}
		r.file(name, after)
	}
}

// secretsReplace changes what is encrypted in secrets.sops.yaml.
func (r *testRepo) secretsReplace(old, text string) {
	r.t.Helper()
	plain, err := r.decrypted("envs/canary/secrets.sops.yaml")
	if err != nil || !strings.Contains(plain, old) {
		r.t.Fatalf("secrets.sops.yaml does not hold %q: %v", old, err)
	}
	r.encrypted("envs/canary/secrets.sops.yaml", strings.Replace(plain, old, text, 1))
}

// Whatever is wrong with the sources, no command repeats a secret.
func TestCanariesInSources(t *testing.T) {
	template := markedRepo(t, "v1.13").
		patch("common/variables.yaml", markedPatches["common/variables.yaml"]).
		patch("common/whole.sops.yaml", markedPatches["common/whole.sops.yaml"])
	mustWrite(t, template.open(operatorKeys()[0].private), "canary")
	for name, spoil := range spoiled {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			if err := os.CopyFS(r.root, os.DirFS(template.root)); err != nil {
				t.Fatal(err)
			}
			spoil(r)
			if problems := r.askEverything(t, operatorKeys()[0].private); problems == 0 && !accepted[name] {
				t.Error("nothing is wrong with it")
			}
		})
	}
}

// askEverything runs every command on the environment of the canaries, looks
// for secrets in what comes of it, and counts the errors.
func (r *testRepo) askEverything(t *testing.T, key string) (problems int) {
	t.Helper()
	ctx := context.Background()
	repo := r.open(key)
	see := func(command string, err error, results ...any) {
		if err != nil {
			problems++
		}
		mustHidePrinted(t, command, err)
		for _, result := range results {
			mustHidePrinted(t, command, result)
		}
	}
	differences, err := repo.Check("canary")
	see("check", err, differences)
	fresh, err := repo.Fresh(ctx, "canary")
	see("fresh", err, fresh)
	res, err := repo.Render(ctx, "canary", render.Options{})
	see("render", err, res)
	if err == nil {
		changes, err := repo.Diff(ctx, res)
		see("diff", err, changes)
	}
	res, err = repo.Render(ctx, "canary", render.Options{Keyless: true})
	see("render --keyless", err, res)
	explained, err := repo.Explain(ctx, "canary", "canary-worker-1", "")
	see("explain", err, explained)
	shown, err := repo.Show(ctx, "canary", "canary-worker-1", false)
	see("show", err, string(shown))
	_, err = repo.Show(ctx, "canary", "canary-worker-1", true)
	see("show --reveal", err)
	report, err := vault.Sync(ctx, repo, "canary")
	see("secrets sync", err, report)
	report, err = vault.Init(ctx, repo, "canary")
	see("secrets init", err, report)
	problems-- // there are secrets already
	done, err := vault.Rekey(ctx, repo, "canary", nil)
	if err == nil {
		report, _, err = done.Write(repo)
	}
	see("secrets rekey", err, report)
	for name, text := range readTree(t, filepath.Join(r.root, "rendered")) {
		mustHideSecrets(t, name, text)
	}
	return problems
}

// What is wrong with a text that a user gives to talosgen is told without it.
func TestCanariesInGivenText(t *testing.T) {
	ctx := context.Background()
	r := markedRepo(t, "v1.13")
	repo := r.open(operatorKeys()[0].private)
	for name, text := range map[string]string{
		"not YAML":         "qzxkanarivogl95: [qzxkanarivogl95\n",
		"not YAML either":  "a: 'qzxkanarivogl95\n",
		"alias":            "a: *qzxkanarivogl95\n",
		"duplicate":        "talos: qzxkanarivogl95\ntalos: qzxkanarivogl95\n",
		"a text":           "qzxkanarivogl95\n",
		"a list":           "[qzxkanarivogl95]\n",
		"nothing":          "",
		"half a bundle":    "cluster: {id: qzxkanarivogl95}\nsecrets: {bootstraptoken: 48271}\n",
		"a worker":         "version: v1alpha1\nmachine: {type: worker, token: qzxkanarivogl95}\n",
		"half a node":      "version: v1alpha1\nmachine: {type: controlplane, token: qzxkanarivogl95}\ncluster: {id: qzxkanarivogl95}\n",
		"broken node":      "version: v1alpha1\nmachine: {type: controlplane, token: [qzxkanarivogl95], ca: {crt: 'qzxkanarivogl95*'}}\n",
		"unknown in node":  "version: v1alpha1\nmachine: {type: controlplane, tokens: qzxkanarivogl95}\n",
		"broken endpoint":  "version: v1alpha1\ncluster: {controlPlane: {endpoint: 'https://qzxkanarivogl95:48271x'}}\n",
		"two documents":    "talos: qzxkanarivogl95\n---\nvariables: {A: qzxkanarivogl95}\n",
		"variables broken": "variables:\n  - qzxkanarivogl95\n",
		"binary":           "\x00\x01qzxkanarivogl95",
	} {
		report, err := vault.Import(ctx, repo, "canary", "given.yaml", []byte(text))
		if err == nil {
			t.Errorf("%s: import takes it", name)
		}
		mustHidePrinted(t, name+": import", err)
		mustHidePrinted(t, name+": import", report)
		report, err = vault.Edit(ctx, repo, "canary", func([]byte) ([]byte, error) { return []byte(text), nil })
		mustHidePrinted(t, name+": edit", err)
		mustHidePrinted(t, name+": edit", report)
		_, _, err = convert.Patch("given.yaml", []byte(text), convert.Options{})
		if name != "alias" && !strings.Contains(name, "not YAML") {
			continue // what is no secret may be repeated
		}
		if err == nil {
			t.Errorf("%s: convert takes it", name)
		}
	}
}

// Keys that cannot be used are named by where they came from.
func TestCanariesInKeys(t *testing.T) {
	r := markedRepo(t, "v1.13")
	key := operatorKeys()[0].private
	file := filepath.Join(t.TempDir(), "keys.txt")
	for name, text := range map[string]string{
		"cut off":     key[:len(key)-4],
		"another":     operatorKeys()[1].private,
		"lower case":  strings.ToLower(key),
		"no key":      "qzxkanarivogl95",
		"two lines":   "qzxkanarivogl95\n" + key[:20] + "\n",
		"encrypted":   "-----BEGIN AGE ENCRYPTED FILE-----\nqzxkanarivogl95\n-----END AGE ENCRYPTED FILE-----\n",
		"SSH key":     "-----BEGIN OPENSSH PRIVATE KEY-----\nqzxkanarivogl95\n-----END OPENSSH PRIVATE KEY-----\n",
		"plugin":      "AGE-PLUGIN-QZXKANARIVOGL95-1QZXKANARIVOGL95\n",
		"a recipient": operatorKeys()[0].public + "\nqzxkanarivogl95",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, env := range []map[string]string{{"SOPS_AGE_KEY": text}, {"SOPS_AGE_KEY_FILE": file}, {"SOPS_AGE_KEY_CMD": "false " + text}, {"SOPS_AGE_SSH_PRIVATE_KEY_FILE": file}} {
			_, err := open(t, r.root, env).Render(context.Background(), "canary", render.Options{})
			if err == nil {
				t.Errorf("%s: rendered", name)
			}
			mustHidePrinted(t, name, err)
			for piece := range 4 {
				if at := 16 + 10*piece; strings.Contains(err.Error(), key[at:at+8]) {
					t.Errorf("%s: a piece of the key is in %v", name, err)
				}
			}
		}
	}
}

// SOPS drops tags when it encrypts. What is left of `!delete` is an empty text,
// and the message says why it does not delete.
func TestEncryptedPatchHasNoTags(t *testing.T) {
	r := markedRepo(t, "v1.13").
		patch("common/x.yaml", "machine:\n  env:\n    A: x\n").
		patch("common/y.sops.yaml", "machine:\n  env:\n    A: !delete\n")
	_, err := r.open(operatorKeys()[0].private).Render(context.Background(), "canary", render.Options{})
	if err == nil || !strings.Contains(err.Error(), "SOPS keeps no tags") {
		t.Errorf("got %v", err)
	}
}
