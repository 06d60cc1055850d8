package sopsage

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
	"filippo.io/age/plugin"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// encrypted gives a file that is encrypted for age public keys as sops does it.
func encrypted(t *testing.T, public ...string) []byte {
	t.Helper()
	return encryptedText(t, "token: CANARY-value\n", public...)
}

func encryptedText(t *testing.T, plain string, public ...string) []byte {
	t.Helper()
	data, err := Encrypt("secrets.sops.yaml", []byte(plain), ruleOf(t, public...), testRandom(1), testTime)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func ruleOf(t *testing.T, public ...string) *Rule {
	t.Helper()
	rule, err := RuleFor(".sops.yaml", []byte("creation_rules:\n  - age: \""+strings.Join(public, ",")+"\"\n"), "envs/dev/secrets.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// TestWhereIdentitiesAreFound has one case for each place in which sops looks.
func TestWhereIdentitiesAreFound(t *testing.T) {
	private, public := identity(t, 1)
	other, _ := identity(t, 2)
	file := encrypted(t, public)
	for _, tt := range []struct {
		name  string
		world world
		goos  string
		extra []KeyFile
	}{
		{name: "variable", world: world{vars: map[string]string{"SOPS_AGE_KEY": "# mine\n" + other + " " + private + "\n"}}},
		{name: "file", world: world{
			vars:  map[string]string{"SOPS_AGE_KEY_FILE": "/keys"},
			files: map[string]string{"/keys": "# created: today\r\n" + other + "\r\n\r\n" + private + "\r\n"},
		}},
		{name: "XDG_CONFIG_HOME", world: world{
			vars:  map[string]string{"XDG_CONFIG_HOME": "/xdg", "HOME": "/home/x"},
			files: map[string]string{"/xdg/sops/age/keys.txt": private},
		}},
		{name: "home", world: world{
			vars:  map[string]string{"HOME": "/home/x"},
			files: map[string]string{"/home/x/.config/sops/age/keys.txt": private},
		}},
		{name: "macOS", goos: "darwin", world: world{
			vars:  map[string]string{"HOME": "/Users/x"},
			files: map[string]string{"/Users/x/Library/Application Support/sops/age/keys.txt": private},
		}},
		{name: "macOS with XDG_CONFIG_HOME", goos: "darwin", world: world{
			vars:  map[string]string{"HOME": "/Users/x", "XDG_CONFIG_HOME": "/xdg"},
			files: map[string]string{"/xdg/sops/age/keys.txt": private},
		}},
		{name: "extra contents", extra: []KeyFile{{Name: "example.key", Data: []byte(private)}}},
		{name: "extra file", extra: []KeyFile{{Name: "/repo/example.key"}}, world: world{files: map[string]string{"/repo/example.key": private}}},
		{name: "a broken place beside a good one", world: world{
			vars:  map[string]string{"SOPS_AGE_KEY": "garbage", "SOPS_AGE_KEY_FILE": "/gone", "HOME": "/home/x"},
			files: map[string]string{"/home/x/.config/sops/age/keys.txt": private},
		}},
		{name: "encrypted key file", world: world{
			vars:    map[string]string{"SOPS_AGE_KEY_FILE": "/keys"},
			files:   map[string]string{"/keys": withPassphrase(t, private, "open sesame")},
			answers: "open sesame",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := tt.world.env()
			if tt.goos != "" {
				env.GOOS = tt.goos
			}
			plain, err := NewKeys(env, tt.extra...).DecryptYAML(t.Context(), "s.sops.yaml", file)
			if err != nil {
				t.Fatal(err)
			}
			if string(plain) != "token: CANARY-value\n" {
				t.Errorf("got %q", plain)
			}
		})
	}
}

// withPassphrase encrypts a key file with a passphrase, at the lowest cost.
func withPassphrase(t *testing.T, text, pass string) string {
	t.Helper()
	recipient, err := age.NewScryptRecipient(pass)
	if err != nil {
		t.Fatal(err)
	}
	recipient.SetWorkFactor(2)
	var out bytes.Buffer
	armored := armor.NewWriter(&out)
	w, err := age.Encrypt(armored, recipient)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), armored.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestKeyCommandRunsOnce(t *testing.T) {
	private, public := identity(t, 1)
	_, other := identity(t, 2)
	w := world{
		vars: map[string]string{"SOPS_AGE_KEY_CMD": `get-key "my vault" --field=key`},
		run: func(args, env []string) (string, error) {
			if !slices.Equal(args, []string{"get-key", "my vault", "--field=key"}) {
				t.Errorf("args %q", args)
			}
			if !slices.Contains(env, "SOPS_AGE_RECIPIENT="+other) {
				t.Errorf("env %q", env)
			}
			return private + "\n", nil
		},
	}
	keys := NewKeys(w.env())
	for range 3 {
		// Encrypted anew, so that nothing comes from the cache of data keys.
		if _, err := keys.DecryptYAML(t.Context(), "s.sops.yaml", encrypted(t, other, public)); err != nil {
			t.Fatal(err)
		}
	}
	if w.ran != 1 {
		t.Errorf("the command ran %d times", w.ran)
	}
}

// TestKeyCommandByRecipient: a command may print the key of the recipient that
// it is told, and fail for those that it does not know.
func TestKeyCommandByRecipient(t *testing.T) {
	private, public := identity(t, 1)
	_, other := identity(t, 2)
	w := world{
		vars: map[string]string{"SOPS_AGE_KEY_CMD": "get-key"},
		run: func(_, env []string) (string, error) {
			if slices.Contains(env, "SOPS_AGE_RECIPIENT="+public) {
				return private, nil
			}
			return "", errors.New("unknown")
		},
	}
	if _, err := NewKeys(w.env()).DecryptYAML(t.Context(), "s.sops.yaml", encrypted(t, other, public)); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsReadBeforeItIsNeeded(t *testing.T) {
	private, public := identity(t, 1)
	w := world{
		vars: map[string]string{"SOPS_AGE_KEY": private, "SOPS_AGE_KEY_CMD": "never", "HOME": "/home/x"},
		run:  func(_, _ []string) (string, error) { return "", errors.New("must not run") },
	}
	keys := NewKeys(w.env())
	if _, err := keys.DecryptYAML(t.Context(), "s.sops.yaml", []byte("a: b\n")); err == nil || len(w.read) != 0 {
		t.Errorf("read %v for a plaintext, error %v", w.read, err)
	}
	if _, err := keys.DecryptYAML(t.Context(), "s.sops.yaml", encrypted(t, public)); err != nil {
		t.Fatal(err)
	}
	if w.ran != 0 {
		t.Error("the command ran although another identity fits")
	}
	for _, name := range w.read {
		if strings.Contains(name, ".ssh") {
			t.Errorf("read %s although nothing is encrypted for SSH", name)
		}
	}
}

func TestPostQuantumKeys(t *testing.T) {
	id, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	file := encrypted(t, id.Recipient().String())
	if _, err := keysOf(id.String()).DecryptYAML(t.Context(), "s.sops.yaml", file); err != nil {
		t.Error(err)
	}
	_, err = keysOf(mustPrivate(t, 1)).DecryptYAML(t.Context(), "s.sops.yaml", file)
	wantError(t, err, id.Recipient().String()[:100])
	if len(err.Error()) > 1500 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// TestBrokenPlugin: an identity whose plugin is not installed is told, and does
// not keep a good one behind it from being used.
func TestBrokenPlugin(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	private, public := identity(t, 1)
	broken := plugin.EncodeIdentity("missing", []byte("x"))
	if _, err := keysOf(broken+" "+private).DecryptYAML(t.Context(), "s.sops.yaml", encrypted(t, public)); err != nil {
		t.Error(err)
	}
	_, err := keysOf(broken).DecryptYAML(t.Context(), "s.sops.yaml", encrypted(t, public))
	wantError(t, err, "age-plugin-missing identity in SOPS_AGE_KEY", "this went wrong:")
}

func TestKeysNeverPrint(t *testing.T) {
	_, key, private := testKeyring(t)
	keys := keysOf(private)
	if _, err := keys.DecryptYAML(t.Context(), "f", encrypted(t, mustPublic(t, 1))); err != nil {
		t.Fatal(err)
	}
	file := key.File("f")
	if _, err := file.Encrypt([]string{"a"}, "CANARY-value", Str); err != nil {
		t.Fatal(err)
	}
	values := []any{key, *key, keys, file, *file, key.Open("f"), KeyFile{Name: "example", Data: []byte(private)}}
	for _, value := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
			if text := fmt.Sprintf(verb, value); text != secret.Mask && text != "example" {
				t.Errorf("%T is printed as %.60s", value, text)
			}
		}
	}
}

func TestKeysAreSafeForConcurrentUse(t *testing.T) {
	_, key, private := testKeyring(t)
	data := []byte(encryptTemplate(t, key, "nodes/a.yaml", sample))
	keys := keysOf(private)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			block, err := ParseBlock("nodes/a.yaml", data)
			if err != nil {
				t.Error(err)
				return
			}
			key, err := keys.BlockKey(t.Context(), "nodes/a.yaml", block)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := readAll(key, string(data)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestSSHKeys(t *testing.T) {
	private, public, protected := sshKeys(t)
	for _, tt := range []struct {
		name  string
		world world
	}{
		{"home", world{vars: map[string]string{"HOME": "/home/x"}, files: map[string]string{"/home/x/.ssh/id_ed25519": private}}},
		{"file", world{vars: map[string]string{"SOPS_AGE_SSH_PRIVATE_KEY_FILE": "/k"}, files: map[string]string{"/k": private}}},
		{"command", world{
			vars: map[string]string{"SOPS_AGE_SSH_PRIVATE_KEY_CMD": "get-ssh"},
			run:  func(_, _ []string) (string, error) { return private, nil },
		}},
		{"passphrase", world{
			vars:    map[string]string{"HOME": "/home/x"},
			files:   map[string]string{"/home/x/.ssh/id_ed25519": protected, "/home/x/.ssh/id_rsa": "garbage"},
			answers: "sesame",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewKeys(tt.world.env()).DecryptYAML(t.Context(), "s.sops.yaml", encrypted(t, public)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNoKeyProblems(t *testing.T) {
	_, public := identity(t, 1)
	other, otherPublic := identity(t, 2)
	file := encrypted(t, public)
	for _, tt := range []struct {
		name  string
		world world
		want  []string
	}{
		{"no identity at all", world{vars: map[string]string{"HOME": "/home/x"}}, []string{
			"envs/dev/secrets.sops.yaml: no identity was found", public, "SOPS_AGE_KEY: not set",
			"/home/x/.config/sops/age/keys.txt: does not exist", "age-keygen",
		}},
		{"a wrong identity", world{vars: map[string]string{"SOPS_AGE_KEY": other}}, []string{
			"none of the identities", "encrypted for:\n    " + public, "found identities for:\n    " + otherPublic,
		}},
		{"garbage", world{vars: map[string]string{"SOPS_AGE_KEY": "\nCANARY-garbage"}}, []string{
			"no identity was found", "SOPS_AGE_KEY: line 2 is not an age identity",
		}},
		{"truncated key", world{vars: map[string]string{"SOPS_AGE_KEY": other[:40]}}, []string{"line 1 is not an age identity"}},
		{"failing command", world{
			vars: map[string]string{"SOPS_AGE_KEY_CMD": "get CANARY-argument"},
			run:  func(_, _ []string) (string, error) { return "CANARY-out", errors.New("CANARY-error") },
		}, []string{"SOPS_AGE_KEY_CMD: the command failed"}},
		{"unbalanced command", world{vars: map[string]string{"SOPS_AGE_KEY_CMD": "'"}}, []string{"is not a command line"}},
		{"wrong passphrase", world{
			vars:    map[string]string{"SOPS_AGE_KEY_FILE": "/keys"},
			files:   map[string]string{"/keys": withPassphrase(t, other, "open sesame")},
			answers: "CANARY-guess",
		}, []string{"incorrect passphrase"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewKeys(tt.world.env()).DecryptYAML(t.Context(), "envs/dev/secrets.sops.yaml", file)
			wantError(t, err, tt.want...)
			if diag.CodeOf(err) != diag.Secrets {
				t.Errorf("code %d", diag.CodeOf(err))
			}
			for _, secret := range []string{"CANARY", other[20:40]} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("a secret is in the error:\n%s", err)
				}
			}
		})
	}
}
