package sopsage

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// listener counts what comes to an address on this machine, whatever it speaks.
type listener struct {
	net.Listener
	connections, bytes atomic.Int64
}

func listen(t *testing.T) *listener {
	t.Helper()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{Listener: inner}
	t.Cleanup(func() { inner.Close() })
	go func() {
		for {
			conn, err := inner.Accept()
			if err != nil {
				return
			}
			l.connections.Add(1)
			go func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(time.Second))
				buf := make([]byte, 4096)
				for {
					n, err := conn.Read(buf)
					l.bytes.Add(int64(n))
					if err != nil {
						return
					}
				}
			}()
		}
	}()
	return l
}

// stanza is the metadata with which a file says that a key service has its key.
func stanza(kind, address string) string {
	switch kind {
	case "hc_vault":
		return "    hc_vault:\n        - vault_address: " + address + "\n          engine_path: sops\n          key_name: dev\n          created_at: \"2026-03-01T12:30:00Z\"\n          enc: vault:v1:AAAA\n"
	default:
		return "    azure_kv:\n        - vault_url: " + address + "\n          name: dev\n          version: \"1\"\n          created_at: \"2026-03-01T12:30:00Z\"\n          enc: AAAA\n"
	}
}

// A file says where the service is that has its key. The token for it goes to no
// address that .sops.yaml does not name for this file: not a byte is sent there.
func TestTokensGoToNamedServicesOnly(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("VAULT_TOKEN", "CANARY-token")
	t.Setenv("AZURE_TENANT_ID", "t")
	t.Setenv("AZURE_CLIENT_ID", "c")
	t.Setenv("AZURE_CLIENT_SECRET", "CANARY-azure")
	_, public := identity(t, 1)
	trusted := listen(t)
	rule, err := RuleFor(".sops.yaml", []byte("creation_rules:\n  - age: "+public+"\n    hc_vault_transit_uri: http://"+trusted.Addr().String()+"/v1/sops/keys/dev\n"), "s.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := string(encrypted(t, public))
	for name, tt := range map[string]struct {
		kind  string
		named func(string) (Recipients, error)
	}{
		"Vault elsewhere":         {"hc_vault", func(string) (Recipients, error) { return rule.Recipients(), nil }},
		"Azure":                   {"azure_kv", func(string) (Recipients, error) { return rule.Recipients(), nil }},
		"no rule for the file":    {"hc_vault", func(string) (Recipients, error) { return Recipients{}, errors.New("no creation rule matches") }},
		"nothing is known of any": {"hc_vault", nil},
	} {
		t.Run(name, func(t *testing.T) {
			rogue := listen(t)
			text := strings.Replace(file, "\nsops:\n", "\nsops:\n"+stanza(tt.kind, "http://"+rogue.Addr().String()), 1)
			keys := NewKeys(Env{Recipients: tt.named})
			_, err := keys.DecryptYAML(t.Context(), "s.sops.yaml", []byte(text))
			wantError(t, err, "not asked, because .sops.yaml does not name it for this file: "+tt.kind+":http")
			if diag.CodeOf(err) != diag.Secrets || strings.Contains(err.Error(), "CANARY") {
				t.Errorf("exit code %d, %v", diag.CodeOf(err), err)
			}
			if n, b := rogue.connections.Load(), rogue.bytes.Load(); n != 0 || b != 0 {
				t.Errorf("%d connections and %d bytes went there", n, b)
			}
		})
	}

	// The one that is named is asked, so what counts would have counted.
	text := strings.Replace(file, "\nsops:\n", "\nsops:\n"+stanza("hc_vault", "http://"+trusted.Addr().String()), 1)
	keys := NewKeys(Env{Recipients: func(string) (Recipients, error) { return rule.Recipients(), nil }})
	if _, err := keys.DecryptYAML(t.Context(), "s.sops.yaml", []byte(text)); err == nil {
		t.Error("it decrypts")
	}
	if trusted.connections.Load() == 0 || trusted.bytes.Load() == 0 {
		t.Error("the service that is named was not asked")
	}
}
