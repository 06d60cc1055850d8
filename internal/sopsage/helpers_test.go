package sopsage

import (
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/getsops/sops/v3"
	sopsaes "github.com/getsops/sops/v3/aes"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/secret"
)

var (
	testTime    = time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	testBinding = secret.New("a secret of the environment")
)

// testRandom gives the same bytes on every run.
func testRandom(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// identity makes a key pair that is the same on every run.
func identity(t testing.TB, seed byte) (private, public string) {
	t.Helper()
	key, public, err := GenerateIdentity(testRandom(seed))
	if err != nil {
		t.Fatal(err)
	}
	return key.Reveal(), public
}

// world is an environment of variables, files and commands.
type world struct {
	vars    map[string]string
	files   map[string]string
	run     func(args, env []string) (string, error)
	ran     int
	read    []string
	answers string
}

func (w *world) env() Env {
	return Env{
		GOOS:   "linux",
		Lookup: func(name string) (string, bool) { v, ok := w.vars[name]; return v, ok },
		ReadFile: func(name string) ([]byte, error) {
			w.read = append(w.read, name)
			if text, ok := w.files[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		Run: func(_ context.Context, args, env []string) ([]byte, error) {
			w.ran++
			out, err := w.run(args, env)
			return []byte(out), err
		},
		Ask: func(string) (string, error) { return w.answers, nil },
	}
}

// keysOf gives keys with one identity.
func keysOf(private string) *Keys {
	return NewKeys((&world{vars: map[string]string{"SOPS_AGE_KEY": private}}).env())
}

// ageTo gives recipients of age public keys.
func ageTo(t testing.TB, public ...string) Recipients {
	t.Helper()
	r, err := Recipients{}.With(public...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// testKeyring makes a keyring for the identity of seed 1, and its operator key.
func testKeyring(t testing.TB) (*Keyring, *DataKey, string) {
	t.Helper()
	private, public := identity(t, 1)
	_, cluster := identity(t, 2)
	ring, err := NewKeyring(ageTo(t, public), ageTo(t, public, cluster), testBinding, testRandom(9), testTime)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ring.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	return ring, key, private
}

// sopsDecrypt decrypts a file with SOPS' own store, tree walk and MAC check,
// given the bare data key. It is the oracle.
func sopsDecrypt(data string, key []byte) (string, error) {
	store := newYAMLStore(0).Store
	tree, err := store.LoadEncryptedFile([]byte(data))
	if err != nil {
		return "", err
	}
	cipher := sopsaes.NewCipher()
	computed, err := tree.Decrypt(key, cipher)
	if err != nil {
		return "", err
	}
	stored, err := cipher.Decrypt(tree.Metadata.MessageAuthenticationCode, key, tree.Metadata.LastModified.Format(time.RFC3339))
	if err != nil {
		return "", err
	}
	if stored != computed {
		return "", sops.MacMismatch
	}
	out, err := store.EmitPlainFile(tree.Branches)
	return string(out), err
}

// wantError fails unless err has the code, and its text all the given parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q:\n%s", part, err)
		}
	}
}

// randomCipher is SOPS' cipher with nonces from the system.
func randomCipher() sops.Cipher { return sopsaes.NewCipher() }

// sshKeys makes an SSH key: private, public, and private with the passphrase
// "sesame".
func sshKeys(t *testing.T) (private, public, protected string) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	open, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte("sesame"))
	if err != nil {
		t.Fatal(err)
	}
	sshPublic, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(open)), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(sshPublic))), string(pem.EncodeToMemory(closed))
}
