package render_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// testRepo is a repository that a test puts together.
type testRepo struct {
	t    testing.TB
	root string
}

func newRepo(t testing.TB) *testRepo {
	t.Helper()
	return &testRepo{t, filepath.Join(t.TempDir(), "repository")}
}

// keyPair is an age key.
type keyPair struct{ private, public string }

// operatorKeys are keys of operators that exist in this process only.
var operatorKeys = sync.OnceValue(func() []keyPair {
	var keys []keyPair
	for i := range 2 {
		private, public, err := sopsage.GenerateIdentity(&markedRandom{next: 100 * i})
		if err != nil {
			panic(err)
		}
		keys = append(keys, keyPair{private.Reveal(), public})
	}
	return keys
})

// file writes a file of the repository.
func (r *testRepo) file(name, text string) *testRepo {
	r.t.Helper()
	writeFile(r.t, r.root, name, text)
	return r
}

// operators writes .sops.yaml: who reads the secrets of which environment. A
// file *.part.sops.yaml is encrypted in part: what is under a key that ends in
// "Secret", and passwords.
func (r *testRepo) operators(public map[string]string) *testRepo {
	r.t.Helper()
	var b strings.Builder
	b.WriteString("creation_rules:\n")
	for _, env := range slices.Sorted(maps.Keys(public)) {
		fmt.Fprintf(&b, "  - path_regex: (envs/%s|patches)/.*\\.part\\.sops\\.yaml$\n    encrypted_regex: (Secret|password|token)$\n    age: %s\n", env, public[env])
		fmt.Fprintf(&b, "  - path_regex: (envs/%s|patches)/.*\\.sops\\.(yaml|env)$\n    age: %s\n", env, public[env])
	}
	return r.file(".sops.yaml", b.String())
}

// clusterOf is the smallest environment: a control plane and two workers, with
// a contract.
func clusterOf(env, contract string) string {
	kubernetes := map[string]string{"v1.9": "1.32.0", "v1.12": "1.34.0"}[contract]
	return "apiVersion: talosgen.dev/v1alpha1\n" +
		"clusterName: " + env + "\n" +
		"endpoint: https://api." + env + ".example.com:6443\n" +
		"talos:\n  version: v1.14.1\n  configContract: " + contract + "\n" +
		"kubernetes:\n  version: " + cmp.Or(kubernetes, "1.36.3") + "\n" +
		"hetzner:\n  region: hel1\n  networkZone: eu-central\n" +
		"nodes:\n  controlPlane:\n    count: 1\n    type: cpx22\n" +
		"  workers:\n    nodepools:\n      - name: worker\n        count: 2\n        type: cpx22\n"
}

// environment writes an environment without secrets and patches.
func (r *testRepo) environment(env, contract string) *testRepo {
	r.t.Helper()
	return r.file("envs/"+env+"/cluster.yaml", clusterOf(env, contract)).
		file("envs/"+env+"/cluster.env", "CLUSTER_NAME="+env+"\n")
}

// initSecrets gives an environment the bundle of the canaries, a cluster key, a
// keyring, and a token.
func (r *testRepo) initSecrets(env, key string) *testRepo {
	r.t.Helper()
	others, err := filepath.Glob(filepath.Join(r.root, "envs", "*", "keyring.yaml"))
	if err != nil {
		r.t.Fatal(err)
	}
	w := world(r.t, map[string]string{"SOPS_AGE_KEY": key})
	w.Random = &markedRandom{next: 1000 * len(others)} // each environment has keys of its own
	if _, err := vault.Import(context.Background(), openWorld(r.t, r.root, w), env, "bundle.yaml", []byte(markedBundle())); err != nil {
		r.t.Fatal(err)
	}
	_, err = vault.Edit(context.Background(), r.open(key), env, func(plain []byte) ([]byte, error) {
		if !bytes.Contains(plain, []byte("\nvariables:\n")) {
			plain = append(plain, "variables:\n"...)
		}
		return append(plain, "    HCLOUD_TOKEN: qzxkanarivogl95hcloudtoken\n"...), nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return r
}

// variables adds secret variables, given as YAML, to an environment.
func (r *testRepo) variables(env, key, text string) *testRepo {
	r.t.Helper()
	_, err := vault.Edit(context.Background(), r.open(key), env, func(plain []byte) ([]byte, error) {
		return append(plain, text...), nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return r
}

// moreVariables adds secret variables to the environment of the canaries.
func (r *testRepo) moreVariables(text string) *testRepo {
	r.t.Helper()
	return r.variables("canary", operatorKeys()[0].private, text)
}

// encrypted writes a file as sops would encrypt it.
func (r *testRepo) encrypted(name, plain string) *testRepo {
	r.t.Helper()
	rule, err := sopsage.RuleFor(".sops.yaml", []byte(readFile(r.t, r.root, ".sops.yaml")), name)
	if err != nil {
		r.t.Fatal(err)
	}
	data, err := sopsage.Encrypt(name, []byte(plain), rule, &markedRandom{}, testTime)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.file(name, string(data))
}

// open opens the repository with a key; without one if it is "".
func (r *testRepo) open(key string) *render.Repo {
	r.t.Helper()
	w := world(r.t, map[string]string{"SOPS_AGE_KEY": key})
	w.Random = &markedRandom{}
	return openWorld(r.t, r.root, w)
}

// sopsTakes tells whether sops could encrypt a text as it is: it takes mappings
// only.
func sopsTakes(text string) bool {
	_, err := sopsage.Encrypt("x.sops.yaml", []byte(text), encryptAll(), &markedRandom{}, testTime)
	return text != "" && err == nil
}

// encryptAll is a rule that encrypts everything.
var encryptAll = sync.OnceValue(func() *sopsage.Rule {
	rule, err := sopsage.RuleFor(".sops.yaml", []byte("creation_rules:\n  - age: "+operatorKeys()[0].public+"\n"), "x.sops.yaml")
	if err != nil {
		panic(err)
	}
	return rule
})

// decrypted returns what is in an encrypted file.
func (r *testRepo) decrypted(name string) (string, error) {
	lookup := func(string) (string, bool) { return operatorKeys()[0].private, true }
	keys := sopsage.NewKeys(sopsage.Env{Lookup: lookup})
	plain, err := keys.DecryptYAML(context.Background(), name, []byte(readFile(r.t, r.root, name)))
	return string(plain), err
}
