package vault

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// Set gives a secret variable a value, or another one than it has. All else in
// secrets.sops.yaml keeps its ciphertext.
func Set(ctx context.Context, r *render.Repo, env, name string, value secret.String) (*Report, error) {
	if err := CheckVariable(name); err != nil {
		return nil, err
	}
	r.Repository().Process.Masker.Add(value)
	if err := checkValue(name, value); err != nil {
		return nil, err
	}
	var added []string
	report, err := Edit(ctx, r, env, func(plain []byte) (out []byte, err error) {
		out, added, err = secretsfile.SetVariable(source.SecretsName, plain, name, value)
		return out, err
	})
	if err != nil {
		return nil, err
	}
	report.Added = added
	return report, nil
}

// CheckVariable reports whether a secret variable can have a name. It does not show
// what is none: that may be the secret itself.
func CheckVariable(name string) error {
	if !subst.IsName(name) {
		return diag.On("", "the name of a variable has letters, digits and underscores, and does not begin with a digit").
			WithHint("the value is read from standard input, and is no argument").WithCode(diag.Usage)
	}
	if strings.HasPrefix(name, subst.ReservedPrefix) {
		return diag.On("", "variable %s: names that begin with %s are talosgen's own", name, subst.ReservedPrefix).WithCode(diag.Usage)
	}
	return nil
}

// checkValue refuses what YAML cannot hold as text.
func checkValue(name string, value secret.String) error {
	text := value.Reveal()
	if text == "" {
		return diag.On("", "the value of %s is empty", name).
			WithHint("what made it may have failed; nothing was changed").WithCode(diag.Usage)
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && !strings.ContainsRune("\n\r\t", c) || c == 0x7f }) {
		return diag.On("", "the value of %s is not text: it has control characters, or bytes that are not UTF-8", name).
			WithHint("encode it, for example with base64; nothing was changed").WithCode(diag.Usage)
	}
	return nil
}
