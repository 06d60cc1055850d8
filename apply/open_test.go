package apply

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/schemas"
)

var fixedTime = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// operators are a key pair and data keys that were made with it.
type operators struct {
	public  string
	keys    *sopsage.Keys
	keyring *sopsage.Keyring
	dataKey *sopsage.DataKey
}

func newOperators(t testing.TB, seed byte) operators {
	t.Helper()
	random := rand.NewChaCha8([32]byte{seed})
	private, public, err := sopsage.GenerateIdentity(random)
	if err != nil {
		t.Fatal(err)
	}
	return operatorsOf(t, private, public, random)
}

func operatorsOf(t testing.TB, private secret.String, public string, random *rand.ChaCha8) operators {
	t.Helper()
	recipients, err := sopsage.Recipients{}.With(public)
	if err != nil {
		t.Fatal(err)
	}
	o := operators{public: public, keys: sopsage.NewKeys(sopsage.Env{
		Lookup:   func(name string) (string, bool) { return private.Reveal(), name == "SOPS_AGE_KEY" },
		GOOS:     "linux",
		ReadFile: func(string) ([]byte, error) { return nil, os.ErrNotExist },
	})}
	binding := secret.New(strings.Repeat("b", 44))
	o.keyring, err = sopsage.NewKeyring(recipients, recipients, binding, random, fixedTime)
	if err != nil {
		t.Fatal(err)
	}
	if o.dataKey, err = o.keyring.Unwrap(t.Context(), o.keys, sopsage.Operator, binding); err != nil {
		t.Fatal(err)
	}
	return o
}

// encrypted is a file with readable text, and one value that is encrypted at
// the top.
func (o operators) encrypted(t testing.TB, name, readable, key, value string) string {
	t.Helper()
	f := o.dataKey.File(name)
	text, err := f.Encrypt([]string{key}, value, sopsage.Str)
	if err != nil {
		t.Fatal(err)
	}
	return readable + key + ": " + text + " # secret\n" + string(f.Block())
}

// sealed adds a lock to files, sealed by the operators.
func (o operators) sealed(t testing.TB, files map[string]string) fstest.MapFS {
	t.Helper()
	tree := fstest.MapFS{}
	var outputs []rendered.Entry
	for path, text := range files {
		tree[path] = &fstest.MapFile{Data: []byte(text)}
		outputs = append(outputs, rendered.Entry{Path: path, Digest: rendered.Digest([]byte(text))})
	}
	lock, err := rendered.NewLock(rendered.Origin{Talosgen: "0.1.0", Environment: "demo", Cluster: "demo"}, nil, outputs)
	if err != nil {
		t.Fatal(err)
	}
	lock.Seal = lock.ComputeSeal(o.dataKey.Derive(rendered.SealLabel))
	tree[rendered.LockName] = &fstest.MapFile{Data: lock.Encode()}
	return tree
}

const smallInfrastructure = "apiVersion: talosgen.dev/v1alpha1\ncluster: demo\nprovider: hetzner\n"

// canaryToken stands for every secret of the tree.
const canaryToken = "qzxkanarivogl95tokentoken"

// small is a tree with everything that [Open] looks at.
func (o operators) small(t testing.TB) map[string]string {
	t.Helper()
	return map[string]string{
		schemas.InfrastructureFile: smallInfrastructure,
		"nodes/demo-1.yaml": o.encrypted(t, "nodes/demo-1.yaml",
			"version: v1alpha1\n", "token", canaryToken),
	}
}

func (o operators) open(t testing.TB, tree fstest.MapFS) (*Environment, error) {
	t.Helper()
	return Open(t.Context(), Tree{Env: "demo", Files: tree, Keys: o.keys, Masker: secret.NewMasker(), Version: "0.1.0"})
}

func TestOpen(t *testing.T) {
	o := newOperators(t, 1)
	e, err := o.open(t, o.sealed(t, o.small(t)))
	if err != nil {
		t.Fatal(err)
	}
	if e.Name() != "demo" || e.Infrastructure.Cluster != "demo" || e.Infrastructure.Provider != "hetzner" {
		t.Errorf("opened %q, %+v", e.Name(), e.Infrastructure)
	}
	plain, err := e.Decrypt(t.Context(), "nodes/demo-1.yaml")
	if want := "version: v1alpha1\ntoken: " + canaryToken; err != nil || !strings.HasPrefix(plain.Reveal(), want) {
		t.Errorf("decrypted %q (%v), want %q", plain.Reveal(), err, want)
	}
	e.keys = nil // it was decrypted, and is not again
	if again, err := e.Decrypt(t.Context(), "nodes/demo-1.yaml"); err != nil || again.Reveal() != plain.Reveal() {
		t.Errorf("the second time %q (%v)", again.Reveal(), err)
	}
	if readable, err := e.Decrypt(t.Context(), schemas.InfrastructureFile); err != nil || readable.Reveal() != smallInfrastructure {
		t.Errorf("a file without secrets: %q (%v)", readable.Reveal(), err)
	}
	if _, err := e.Decrypt(t.Context(), "nodes/other.yaml"); err == nil || !strings.Contains(err.Error(), "rendered/demo/nodes/other.yaml: is not in the rendered tree") {
		t.Errorf("error %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	o, stranger := newOperators(t, 1), newOperators(t, 2)
	const at = "rendered/demo/"
	for name, tt := range map[string]struct {
		tree func(files map[string]string) fstest.MapFS
		keys operators
		code diag.Code
		want string
	}{
		"edited": {func(files map[string]string) fstest.MapFS {
			tree := o.sealed(t, files)
			tree[schemas.InfrastructureFile].Data = bytes.Replace(tree[schemas.InfrastructureFile].Data, []byte("demo"), []byte("dem0"), 1)
			return tree
		}, o, diag.Secrets, at + "infrastructure.yaml: is not what render wrote"},
		"edited, digest and all": {func(files map[string]string) fstest.MapFS {
			tree := o.sealed(t, files)
			changed := strings.Replace(smallInfrastructure, "demo", "dem0", 1)
			tree[schemas.InfrastructureFile].Data = []byte(changed)
			lock := tree[rendered.LockName]
			lock.Data = bytes.Replace(lock.Data, []byte(rendered.Digest([]byte(smallInfrastructure))), []byte(rendered.Digest([]byte(changed))), 1)
			return tree
		}, o, diag.Secrets, at + "render.lock.yaml: the seal does not fit: the rendered tree was edited outside a render, or sealed with another key\n" +
			"  review `git diff`, then run `talosgen render demo --force`"},
		"a key of one's own, known to nobody else": {func(files map[string]string) fstest.MapFS {
			files["nodes/demo-1.yaml"] = stranger.encrypted(t, "nodes/demo-1.yaml", "", "token", "x")
			return stranger.sealed(t, files)
		}, o, diag.Secrets, at + "nodes/demo-1.yaml: none of the identities that were found can decrypt it"},
		"a file with a data key of one's own": {func(files map[string]string) fstest.MapFS {
			mine := forgedKey(t, o)
			files["a.yaml"] = mine.encrypted(t, "a.yaml", "", "x", "y")
			return mine.sealed(t, files)
		}, o, diag.Secrets, at + "nodes/demo-1.yaml: is encrypted with another data key than rendered/demo/a.yaml"},
		"not the operators": {func(files map[string]string) fstest.MapFS { return o.sealed(t, files) },
			stranger, diag.Secrets, at + "nodes/demo-1.yaml: none of the identities that were found can decrypt it"},
		"nothing is encrypted": {func(files map[string]string) fstest.MapFS {
			delete(files, "nodes/demo-1.yaml")
			return o.sealed(t, files)
		}, o, diag.Secrets, at + "render.lock.yaml: no file of the tree is encrypted"},
		"no infrastructure": {func(files map[string]string) fstest.MapFS {
			delete(files, schemas.InfrastructureFile)
			return o.sealed(t, files)
		}, o, diag.Input, at + "infrastructure.yaml: is not in the rendered tree"},
		"another version": {func(files map[string]string) fstest.MapFS {
			files[schemas.InfrastructureFile] = "apiVersion: talosgen.dev/v2\nnew: x\n"
			return o.sealed(t, files)
		}, o, diag.Input, at + `infrastructure.yaml: apiVersion "talosgen.dev/v2" is not known, only talosgen.dev/v1alpha1`},
		"an unknown key": {func(files map[string]string) fstest.MapFS {
			files[schemas.InfrastructureFile] = smallInfrastructure + "servers:\n  - name: x\n    colour: red\n"
			return o.sealed(t, files)
		}, o, diag.Input, "colour"},
		"no cluster": {func(files map[string]string) fstest.MapFS {
			files[schemas.InfrastructureFile] = "apiVersion: talosgen.dev/v1alpha1\n"
			return o.sealed(t, files)
		}, o, diag.Input, at + "infrastructure.yaml: names no cluster"},
		"not YAML": {func(files map[string]string) fstest.MapFS {
			files[schemas.InfrastructureFile] = "apiVersion: [\n"
			return o.sealed(t, files)
		}, o, diag.Input, at + "infrastructure.yaml:"},
		"no tree": {func(map[string]string) fstest.MapFS { return fstest.MapFS{} }, o, diag.Input, at + "render.lock.yaml: does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tt.keys.open(t, tt.tree(o.small(t)))
			if err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != tt.code {
				t.Errorf("error (exit code %d) %v\nwant %d, %s", diag.CodeOf(err), err, tt.code, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), canaryToken) {
				t.Error("the error holds a secret")
			}
		})
	}
}

// forgedKey is what somebody makes who knows the operators' public key only: a
// data key that the operators can unwrap.
func forgedKey(t *testing.T, o operators) operators {
	t.Helper()
	random := rand.NewChaCha8([32]byte{9})
	recipients, err := sopsage.Recipients{}.With(o.public)
	if err != nil {
		t.Fatal(err)
	}
	binding := secret.New(strings.Repeat("c", 44))
	ring, err := sopsage.NewKeyring(recipients, recipients, binding, random, fixedTime)
	if err != nil {
		t.Fatal(err)
	}
	forged := o
	if forged.dataKey, err = ring.Unwrap(t.Context(), o.keys, sopsage.Operator, binding); err != nil {
		t.Fatal(err)
	}
	return forged
}

// TestOpenLeavesTheClustersFilesAlone: they have a data key of their own.
func TestOpenLeavesTheClustersFilesAlone(t *testing.T) {
	o, cluster := newOperators(t, 1), newOperators(t, 2)
	files := o.small(t)
	files["addons/app/secret.yaml"] = cluster.encrypted(t, "addons/app/secret.yaml", "", "x", "y")
	if _, err := o.open(t, o.sealed(t, files)); err != nil {
		t.Error(err)
	}
}

func TestOpenIsInterrupted(t *testing.T) {
	o := newOperators(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	nothingUnwrapped := sopsage.NewKeys(sopsage.Env{})
	_, err := Open(ctx, Tree{Env: "demo", Files: o.sealed(t, o.small(t)), Keys: nothingUnwrapped, Masker: secret.NewMasker(), Version: "0.1.0"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
