package sopsage

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"filippo.io/age"
)

// legacyPEM is what an SSH key in the old format with a passphrase looks like:
// its public half is not readable from it.
const legacyPEM = `-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,00000000000000000000000000000000

AAAA
-----END RSA PRIVATE KEY-----
`

func TestProtectedSSHKeyInOldFormat(t *testing.T) {
	_, public, _ := sshKeys(t)
	asked := ""
	env := (&world{}).env()
	env.Ask = func(prompt string) (string, error) { asked = prompt; return "CANARY", nil }
	for _, tt := range []struct {
		name   string
		public func() ([]byte, error)
		err    string
	}{
		{"no public half", func() ([]byte, error) { return nil, fs.ErrNotExist }, "/k.pub cannot be read"},
		{"garbage as public half", func() ([]byte, error) { return []byte("CANARY"), nil }, "/k.pub is not a public key"},
	} {
		_, err := parser{env}.ssh("/k", []byte(legacyPEM), tt.public)
		wantError(t, err, tt.err)
		if strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	id, err := parser{env}.ssh("/k", []byte(legacyPEM), func() ([]byte, error) { return []byte(public), nil })
	if err != nil {
		t.Fatal(err)
	}
	keys := NewKeys(env)
	keys.ssh = &identitySet{}
	keys.ssh.add("/k", []age.Identity{id}, nil)
	_, err = keys.DecryptYAML(t.Context(), "f", encrypted(t, public))
	wantError(t, err, "this went wrong:")
	if asked != "passphrase of /k" || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("asked for %q; %v", asked, err)
	}
}

func TestWithoutATerminal(t *testing.T) {
	private, public := identity(t, 1)
	w := world{vars: map[string]string{"SOPS_AGE_KEY_FILE": "/keys"}, files: map[string]string{"/keys": withPassphrase(t, private, "x")}}
	env := w.env()
	env.Ask = nil
	_, err := NewKeys(env).DecryptYAML(t.Context(), "f", encrypted(t, public))
	wantError(t, err, "there is no terminal")
}

func TestPluginUI(t *testing.T) {
	var told []string
	env := (&world{answers: "yes"}).env()
	env.Notify = func(message string) { told = append(told, message) }
	ui := parser{env}.pluginUI()
	if err := ui.DisplayMessage("yubikey", "touch it"); err != nil {
		t.Error(err)
	}
	ui.WaitTimer("yubikey")
	if got := strings.Join(told, "; "); got != "age-plugin-yubikey: touch it; waiting for age-plugin-yubikey" {
		t.Errorf("told %q", got)
	}
	if value, err := ui.RequestValue("yubikey", "PIN", true); value != "yes" || err != nil {
		t.Errorf("RequestValue = %q, %v", value, err)
	}
	for yes, want := range map[string]bool{"yes": true, "go on": false} {
		if got, err := ui.Confirm("yubikey", "sure?", yes, "no"); err != nil || got != want {
			t.Errorf("Confirm = %t, %v; want %t", got, err, want)
		}
	}
	parser{}.notify("nobody listens")
}

func TestReasons(t *testing.T) {
	for want, err := range map[string]error{
		"does not exist":    fs.ErrNotExist,
		"permission denied": fs.ErrPermission,
		"cannot be read":    errors.New("CANARY"),
	} {
		env := Env{
			Lookup:   func(name string) (string, bool) { return "/keys", name == "SOPS_AGE_KEY_FILE" },
			ReadFile: func(string) ([]byte, error) { return nil, err },
		}
		_, public := identity(t, 1)
		_, got := NewKeys(env).DecryptYAML(t.Context(), "f", encrypted(t, public))
		wantError(t, got, "SOPS_AGE_KEY_FILE (/keys): "+want)
	}
}

func TestConfigKeyFile(t *testing.T) {
	for _, tt := range []struct{ goos, vars, want string }{
		{"linux", "HOME=/home/x", "/home/x/.config/sops/age/keys.txt"},
		{"linux", "HOME=/home/x XDG_CONFIG_HOME=/xdg", "/xdg/sops/age/keys.txt"},
		{"linux", "HOME=/home/x XDG_CONFIG_HOME=relative", ""},
		{"linux", "", ""},
		{"darwin", "HOME=/Users/x", "/Users/x/Library/Application Support/sops/age/keys.txt"},
		{"darwin", "HOME=/Users/x XDG_CONFIG_HOME=/xdg", "/xdg/sops/age/keys.txt"},
		{"windows", "AppData=C:/x USERPROFILE=C:/y XDG_CONFIG_HOME=/xdg", "C:/x/sops/age/keys.txt"},
	} {
		env := Env{GOOS: tt.goos, Lookup: func(name string) (string, bool) {
			for _, pair := range strings.Fields(tt.vars) {
				if key, value, _ := strings.Cut(pair, "="); key == name {
					return value, true
				}
			}
			return "", false
		}}
		if got := env.ConfigKeyFile(); got != tt.want {
			t.Errorf("%s with %q: %q, want %q", tt.goos, tt.vars, got, tt.want)
		}
	}
}
