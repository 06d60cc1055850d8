package secretsfile

import (
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

// tokens are where bundles have them.
var tokens = map[rotation.Kind][]string{
	rotation.MachineToken:   {KeyTalos, "trustdinfo", "token"},
	rotation.BootstrapToken: {KeyTalos, "secrets", "bootstraptoken"},
}

// ReplaceToken returns the decrypted file with another token, and the one before. What
// else is there stays as it is, with its comments.
func ReplaceToken(file string, plain []byte, kind rotation.Kind, token secret.String) (out []byte, before secret.String, err error) {
	s, err := Parse(file, plain)
	if err != nil {
		return nil, before, err
	}
	if r := s.Rotation; r != nil {
		return nil, before, underWay(file, r)
	}
	root, err := parseRoot(file, plain)
	if err != nil {
		return nil, before, err
	}
	at := find(root, tokens[kind]...)
	if at == nil || at.Value == "" {
		return nil, before, diag.New(diag.Pos{File: file}, "does not have %s (%s)", kind.Subject(), strings.Join(tokens[kind], ".")).WithCode(diag.Secrets)
	}
	before = secret.New(at.Value)
	at.Value = token.Reveal()
	out, err = encode(file, root)
	return out, before, err
}

// underWay refuses a rotation beside another one.
func underWay(file string, r *Rotation) error {
	return diag.New(diag.Pos{File: file}, "has a rotation of %s under way", r.Kind.Subject()).
		WithHint("one after the other: end it first, or go back with --abort (talosgen rotate <env> %s)", r.Kind).WithCode(diag.Conflict)
}
