package render_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// run runs a program with nothing in its environment but env, and returns what
// it prints.
func run(env []string, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%w: %s", err, stderr.String())
	}
	return stdout.String(), nil
}

// each calls do for every item, two at a time for each processor.
func each[T any](items []T, do func(T)) {
	queue := make(chan T)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for item := range queue {
				do(item)
			}
		})
	}
	for _, item := range items {
		queue <- item
	}
	close(queue)
	workers.Wait()
}

// exampleKey lets sops find the key of the shipped environments.
func exampleKey(t *testing.T) []string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(shipped, "envs/example.agekey"))
	if err != nil {
		t.Fatal(err)
	}
	return []string{"SOPS_AGE_KEY_FILE=" + file}
}

// nodeFiles lists the node files of a rendered environment.
func nodeFiles(t *testing.T, root, env string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "rendered", env, "nodes", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rendered nodes of %s: %v", env, err)
	}
	return files
}

// values decodes all documents of a file.
func values(t *testing.T, text string) []any {
	t.Helper()
	var docs []any
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		docs = append(docs, doc)
	}
}

// Stock sops decrypts every node file, with its MAC checked, to what talosgen
// shows; and stock talosctl takes the result.
func TestStockToolsReadEveryNode(t *testing.T) {
	sops := toolenv.Sops(t)
	for _, env := range shippedEnvs(t) {
		t.Run(env, func(t *testing.T) {
			r := open(t, shipped, nil)
			releases, mode := expectations(t, env)
			dir := t.TempDir()
			for _, release := range releases {
				toolenv.Talosctl(t, release) // here, where a test may be skipped
			}
			each(nodeFiles(t, shipped, env), func(file string) {
				node := strings.TrimSuffix(filepath.Base(file), ".yaml")
				plain, err := run(exampleKey(t), sops, "-d", file)
				if err != nil {
					t.Errorf("%s: %v", node, err)
					return
				}
				shown, err := r.Show(context.Background(), env, node, true)
				if err != nil {
					t.Errorf("%s: %v", node, err)
				} else if !reflect.DeepEqual(values(t, plain), values(t, string(shown))) {
					t.Errorf("%s: sops and talosgen show different things", node)
				}
				if strings.Contains(plain, "ENC[") {
					t.Errorf("%s: something is encrypted still", node)
				}
				config := filepath.Join(dir, node+".yaml")
				if err := os.WriteFile(config, []byte(plain), 0o600); err != nil {
					t.Error(err)
				}
				for _, release := range releases {
					if out, err := run(nil, toolenv.Talosctl(t, release), "validate", "--strict", "--mode", mode, "-c", config); err != nil {
						t.Errorf("%s: talosctl %s: %v\n%s", node, release, err, out)
					}
				}
			})
		})
	}
}

// The same for secrets of every type in every place: decrypted by stock sops,
// each is what a naive composition has there, and Talos takes it.
func TestStockToolsReadSecretsOfEveryType(t *testing.T) {
	sops := toolenv.Sops(t)
	key := operatorKeys()[0].private
	for contract, release := range map[string]string{"v1.9": "1.13", "v1.13": "1.13", "v1.14": "1.14"} {
		r := fullyMarkedRepo(t, contract)
		repo := r.open(key)
		mustWrite(t, repo, "canary")
		naive, err := repo.Naive("canary", func(n render.Node) []string {
			return r.patchesIn("common", n.Role, "nodes/"+n.Name)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range nodeFiles(t, r.root, "canary") {
			node := strings.TrimSuffix(filepath.Base(file), ".yaml")
			plain, err := run([]string{"SOPS_AGE_KEY=" + key}, sops, "-d", file)
			if err != nil {
				t.Errorf("%s: %s: %v", contract, node, err)
				continue
			}
			got, want := byIdentity(t, values(t, plain)), byIdentity(t, values(t, strings.Join(naive[node], "---\n")))
			for id := range want {
				for _, d := range unlike(id, got[id], want[id]) {
					t.Errorf("%s: %s: %s", contract, node, d)
				}
			}
			config := filepath.Join(t.TempDir(), "config.yaml")
			writeFile(t, filepath.Dir(config), filepath.Base(config), plain)
			if out, err := run(nil, toolenv.Talosctl(t, release), "validate", "--mode", "cloud", "-c", config); err != nil {
				t.Errorf("%s: %s: talosctl %s: %v\n%s", contract, node, release, err, out)
			}
		}
	}
}

// patchesIn lists the patches of the canaries in the directories of layers.
func (r *testRepo) patchesIn(layers ...string) []string {
	r.t.Helper()
	var files []string
	for _, layer := range layers {
		found, err := filepath.Glob(filepath.Join(r.root, "envs/canary/patches", layer, "*.yaml"))
		if err != nil {
			r.t.Fatal(err)
		}
		for _, file := range found {
			files = append(files, "envs/canary/patches/"+layer+"/"+filepath.Base(file))
		}
	}
	return files
}

// expectations are the releases of talosctl that must accept the nodes of an
// environment, and the mode to validate for.
func expectations(t *testing.T, env string) (releases []string, mode string) {
	t.Helper()
	var c struct {
		Provider string `yaml:"provider"`
		Talos    struct {
			Contract string `yaml:"configContract"`
		} `yaml:"talos"`
	}
	if err := yaml.Unmarshal([]byte(readFile(t, shipped, "envs/"+env+"/cluster.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	contract := c.Talos.Contract
	if contract == "" {
		_, contract, _ = strings.Cut(readFile(t, shipped, "envs/"+env+"/cluster.env"), "TALOS_VERSION=")
	}
	releases = []string{"1.14"}
	if strings.HasPrefix(contract, "v1.13") {
		releases = []string{"1.13", "1.14"}
	}
	if c.Provider == "static" {
		return releases, "metal"
	}
	return releases, "cloud"
}

// The key that enters a cluster, and the keys of other clusters, open nothing
// under nodes/.
func TestOtherKeysOpenNoNode(t *testing.T) {
	sops := toolenv.Sops(t)
	keys := map[string]string{}
	for _, env := range shippedEnvs(t) {
		key, err := run(exampleKey(t), sops, "-d", "--extract", `["clusterAgeKey"]`, filepath.Join(shipped, "envs", env, "secrets.sops.yaml"))
		if err != nil || !strings.HasPrefix(key, "AGE-SECRET-KEY-1") {
			t.Fatalf("%s: the cluster's key: %v", env, err)
		}
		keys[env] = strings.TrimSpace(key)
	}
	if len(slices.Compact(slices.Sorted(maps.Values(keys)))) != len(keys) {
		t.Error("environments share a cluster key")
	}
	for _, env := range shippedEnvs(t) {
		for of, key := range keys {
			each(nodeFiles(t, shipped, env), func(file string) {
				if out, err := run([]string{"SOPS_AGE_KEY=" + key}, sops, "-d", file); err == nil || out != "" {
					t.Errorf("the cluster key of %s opens %s", of, file)
				}
			})
		}
	}
}

// Environments of different operators: the key of one opens nothing of the
// other, neither with sops nor with talosgen.
func TestOperatorsOfOtherEnvironments(t *testing.T) {
	sops := toolenv.Sops(t)
	b := newRepo(t)
	keys := operatorKeys()
	b.operators(map[string]string{"one": keys[0].public, "two": keys[1].public})
	for i, env := range []string{"one", "two"} {
		b.environment(env, "v1.14")
		b.initSecrets(env, keys[i].private)
		mustWrite(t, b.open(keys[i].private), env)
	}
	for i, env := range []string{"one", "two"} {
		other := keys[1-i].private
		for _, file := range nodeFiles(t, b.root, env) {
			if _, err := run([]string{"SOPS_AGE_KEY=" + keys[i].private}, sops, "-d", file); err != nil {
				t.Errorf("%s: its own operator: %v", file, err)
			}
			if out, err := run([]string{"SOPS_AGE_KEY=" + other}, sops, "-d", file); err == nil || out != "" {
				t.Errorf("%s: the other operator reads it", file)
			}
		}
		if _, err := b.open(other).Render(context.Background(), env, render.Options{}); err == nil {
			t.Errorf("%s: the other operator renders it", env)
		}
	}
}
