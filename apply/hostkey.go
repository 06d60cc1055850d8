package apply

import (
	"context"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// hostKey returns the private SSH host key of a server, as PEM, and tells the
// masker. All servers that have one have the same.
func (e *Environment) hostKey(string) (secret.String, error) {
	plain, err := e.Decrypt(context.Background(), schemas.HostKeyFile)
	if err != nil {
		return secret.String{}, err
	}
	var file schemas.HostKey
	// The library's error could quote the key.
	if err := yaml.Unmarshal([]byte(plain.Reveal()), &file); err != nil || file.PrivateKey == "" {
		return secret.String{}, diag.New(diag.Pos{File: e.path(schemas.HostKeyFile)}, "holds no private key").
			WithHint("run `talosgen render %s --force`", e.name).WithCode(diag.Secrets)
	}
	key := secret.New(file.PrivateKey)
	e.masker.Add(key)
	return key, nil
}
