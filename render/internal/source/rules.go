package source

import (
	"errors"
	"io/fs"
	"path"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// Rule finds the creation rule of .sops.yaml for a file.
func (r *Repo) Rule(file string) (*sopsage.Rule, error) {
	data, err := r.Files.ReadFile(SopsConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Pos{File: SopsConfig}, "does not exist: it says for whom secrets are encrypted").
			WithHint("write one with the public key of each operator:\ncreation_rules:\n  - path_regex: \\.sops\\.(yaml|env)$\n    age: age1...").WithCode(diag.Secrets)
	}
	if err != nil {
		return nil, diag.New(diag.Pos{File: SopsConfig}, "cannot be read: %v", Reason(err)).WithCause(err)
	}
	rule, err := sopsage.RuleFor(SopsConfig, data, file)
	if err != nil || !AllSecret(file) {
		return rule, err
	}
	return rule.Whole(), nil
}

// AllSecret tells whether every value of an encrypted source is secret: of the
// files that hold the secrets of an environment. An encrypted patch may have
// readable values, such as the kind of its document.
func AllSecret(file string) bool {
	dir, name := path.Split(file)
	return (name == SecretsName || name == secretEnvFile) && path.Dir(path.Clean(dir)) == EnvsDir
}
