package apply

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// Where the token of the Hetzner Cloud project and the account at Hetzner Robot are in a
// rendered tree: in the Secret that Hetzner's own controllers read.
const (
	bootstrapDir     = "bootstrap/"
	tokenSecret      = "hcloud"
	tokenKey         = "token"
	robotUserKey     = "robot-user"
	robotPasswordKey = "robot-password"
)

// Token returns the token of the Hetzner Cloud project that is in the tree, and
// tells the masker. It is empty if the tree has none.
func (e *Environment) Token(ctx context.Context) (secret.String, error) {
	return hetznerSecret{e}.value(ctx, tokenKey)
}

// hetznerSecret is the Secret in a tree with what Hetzner's controllers log in with.
type hetznerSecret struct{ env *Environment }

// value returns one of its values, and tells the masker. It is empty if the tree has
// none.
func (h hetznerSecret) value(ctx context.Context, key string) (secret.String, error) {
	e := h.env
	for _, name := range slices.Sorted(maps.Keys(e.files)) {
		if !strings.HasPrefix(name, bootstrapDir) || !bytes.Contains(e.files[name], []byte("kind: Secret")) {
			continue
		}
		plain, err := e.Decrypt(ctx, name)
		if err != nil {
			return secret.String{}, err
		}
		value, err := findValue(plain.Reveal(), key)
		if err != nil {
			// The error may quote what is in the file.
			return secret.String{}, diag.New(diag.Pos{File: e.path(name)}, "the Secret %s has no readable %s", tokenSecret, key).
				WithCode(diag.Secrets)
		}
		if !value.IsZero() {
			e.masker.Add(value)
			return value, nil
		}
	}
	return secret.String{}, nil
}

// findValue looks through the documents of a file.
func findValue(plain, key string) (secret.String, error) {
	dec := yaml.NewDecoder(strings.NewReader(plain))
	for {
		var doc struct {
			Kind     string `yaml:"kind"`
			Metadata struct {
				Name string `yaml:"name"`
			} `yaml:"metadata"`
			Data       map[string]string `yaml:"data"`
			StringData map[string]string `yaml:"stringData"`
		}
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return secret.String{}, nil
		case err != nil:
			return secret.String{}, err
		}
		if doc.Kind != "Secret" || doc.Metadata.Name != tokenSecret {
			continue
		}
		if text := doc.StringData[key]; text != "" {
			return secret.New(text), nil
		}
		text, err := base64.StdEncoding.DecodeString(doc.Data[key])
		return secret.New(string(text)), err
	}
}
