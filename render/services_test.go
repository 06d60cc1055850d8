package render_test

import (
	"net"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// A patch that others encrypted, for a Vault of theirs, in the repository of
// somebody who has a token for another one: a render and an edit send it nothing.
func TestRenderAsksNoServiceOfAFile(t *testing.T) {
	r, key := addonRepo(t)
	rogue, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 10)
	go func() {
		for {
			conn, err := rogue.Accept()
			if err != nil {
				return
			}
			conn.Close()
			asked <- struct{}{}
		}
	}()
	t.Cleanup(func() { rogue.Close() })
	t.Setenv("HOME", t.TempDir())
	t.Setenv("VAULT_TOKEN", "qzxkanarivogl95vault")
	const file = "envs/prod/patches/common/theirs.sops.yaml"
	r.file(file, `machine:
    token: ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]
sops:
    hc_vault:
        - vault_address: http://`+rogue.Addr().String()+`
          engine_path: sops
          key_name: dev
          created_at: "2026-03-01T12:30:00Z"
          enc: vault:v1:AAAA
    lastmodified: "2026-03-01T12:30:00Z"
    mac: ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]
    unencrypted_suffix: _unencrypted
    version: 3.13.3
`)
	_, err = r.open(key).Render(t.Context(), "prod", render.Options{})
	if diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), "not asked, because .sops.yaml does not name it for this file: hc_vault:http") || strings.Contains(err.Error(), "qzx") {
		t.Errorf("render: %v", err)
	}
	if _, err = vault.Rekey(t.Context(), r.open(key), "prod", nil); diag.CodeOf(err) != diag.Secrets {
		t.Errorf("rekey: %v", err)
	}
	if len(asked) > 0 {
		t.Errorf("it was asked %d times", len(asked))
	}
}
