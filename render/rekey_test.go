package render_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// rekeyed encrypts an environment again with random bytes of its own, and renders
// it.
func rekeyed(t *testing.T, r *testRepo, key, env string, random int) {
	t.Helper()
	w := world(t, map[string]string{"SOPS_AGE_KEY": key})
	w.Random = &markedRandom{next: random}
	repo := openWorld(t, r.root, w)
	done, err := vault.Rekey(t.Context(), repo, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := done.Write(repo); err != nil {
		t.Fatal(err)
	}
}

// New data keys and a new binding restart no pod: what checksums are keyed with
// stays, however often that happens. No ciphertext stays.
func TestRekeyRestartsNothing(t *testing.T) {
	r, key := addonRepo(t)
	before := mustRender(t, r.open(key), "prod", render.Options{})
	if _, err := r.open(key).Write(before); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(before.Text(webDir+"manifests.yaml"), "checksum/secret: ") {
		t.Fatal("there is no checksum")
	}
	secrets := readFile(t, r.root, "envs/prod/secrets.sops.yaml")
	for i := range 2 {
		rekeyed(t, r, key, "prod", 1000*(i+1))
		if fresh, err := r.open(key).Fresh(t.Context(), "prod"); !fresh || err != nil {
			t.Fatalf("it is fresh: %t, %v", fresh, err)
		}
		after := mustRender(t, r.open(key), "prod", render.Options{})
		if got, want := after.Text(webDir+"manifests.yaml"), before.Text(webDir+"manifests.yaml"); got != want {
			t.Errorf("the objects changed to\n%s\nfrom\n%s", got, want)
		}
		if after.Text(webDir+"secret-web.yaml") == before.Text(webDir+"secret-web.yaml") {
			t.Error("the Secret has the old ciphertext")
		}
	}
	for line := range strings.Lines(secrets) {
		if strings.Contains(line, "ENC[") && strings.Contains(readFile(t, r.root, "envs/prod/secrets.sops.yaml"), line) {
			t.Errorf("the old ciphertext is still there: %s", line)
		}
	}
}

// The environment as it was before a rekey, brought back with one file or with
// both, does not render: neither the secrets with the new keyring, nor both with
// the lock of the last render.
func TestOldKeysAreNotAccepted(t *testing.T) {
	r, key := addonRepo(t)
	if _, err := r.open(key).Write(mustRender(t, r.open(key), "prod", render.Options{})); err != nil {
		t.Fatal(err)
	}
	const secrets, keyring = "envs/prod/secrets.sops.yaml", "envs/prod/keyring.yaml"
	old := map[string]string{secrets: readFile(t, r.root, secrets), keyring: readFile(t, r.root, keyring)}
	rekeyed(t, r, key, "prod", 1000)
	now := map[string]string{secrets: readFile(t, r.root, secrets), keyring: readFile(t, r.root, keyring)}
	for name, tt := range map[string]struct {
		back []string
		want string
	}{
		"the keyring": {[]string{keyring}, "was not made for this environment"},
		"the secrets": {[]string{secrets}, "was not made for this environment"},
		"both":        {[]string{secrets, keyring}, "its data keys are not those of the last render of prod"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range tt.back {
				r.file(file, old[file])
			}
			defer func() { r.file(secrets, now[secrets]).file(keyring, now[keyring]) }()
			for what, do := range map[string]func(*render.Repo) error{
				"render": func(repo *render.Repo) error {
					_, err := repo.Render(t.Context(), "prod", render.Options{})
					return err
				},
				"sync": func(repo *render.Repo) error { _, err := vault.Sync(t.Context(), repo, "prod"); return err },
				"edit": func(repo *render.Repo) error {
					_, err := vault.Edit(t.Context(), repo, "prod", func([]byte) ([]byte, error) { panic("somebody types a secret") })
					return err
				},
				"rekey": func(repo *render.Repo) error { _, err := vault.Rekey(t.Context(), repo, "prod", nil); return err },
			} {
				if err := do(r.open(key)); diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}
