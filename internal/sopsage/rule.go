package sopsage

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/config"

	"github.com/talosgen/talosgen/internal/diag"
)

// Rule is the creation rule of .sops.yaml that applies to one file.
type Rule struct {
	config config.Config
	indent int
	whole  bool // every value is encrypted
}

// Recipients returns who the rule encrypts for.
func (r *Rule) Recipients() Recipients {
	return Recipients{groups: r.config.KeyGroups, threshold: r.config.ShamirThreshold}
}

// metadata gives the wrapped keys the rule's choice of what is encrypted.
func (r *Rule) metadata(wrapped sops.Metadata) sops.Metadata {
	if r.whole {
		return encryptAll(wrapped)
	}
	md := wrapped
	md.UnencryptedSuffix = r.config.UnencryptedSuffix
	md.EncryptedSuffix = r.config.EncryptedSuffix
	md.UnencryptedRegex = r.config.UnencryptedRegex
	md.EncryptedRegex = r.config.EncryptedRegex
	md.UnencryptedCommentRegex = r.config.UnencryptedCommentRegex
	md.EncryptedCommentRegex = r.config.EncryptedCommentRegex
	md.MACOnlyEncrypted = r.config.MACOnlyEncrypted
	if md.UnencryptedSuffix+md.EncryptedSuffix+md.UnencryptedRegex+md.EncryptedRegex+
		md.UnencryptedCommentRegex+md.EncryptedCommentRegex == "" {
		md.UnencryptedSuffix = sops.DefaultUnencryptedSuffix
	}
	return md
}

// RuleFor finds the creation rule for a file. It takes the contents of
// .sops.yaml and its name (for messages), and the file's path relative to it,
// with slashes.
func RuleFor(configName string, configData []byte, file string) (*Rule, error) {
	if i := bytes.Index(bytes.ToUpper(configData), []byte("AGE-SECRET-KEY-")); i >= 0 {
		line := 1 + bytes.Count(configData[:i], []byte("\n"))
		return nil, diag.New(diag.Pos{File: configName, Line: line}, "a private age key").
			WithHint("only public keys (age1…) belong here; if this was ever committed, replace the key").
			WithCode(diag.Secrets)
	}
	rule, stores, err := loadRule(configData, file)
	if err != nil {
		return nil, ruleProblem(configName, file, err)
	}
	r := &Rule{}
	if rule != nil {
		r.config = *rule
	}
	if r.Recipients().IsZero() {
		return nil, diag.New(diag.Pos{File: configName}, "no recipients for %s", file).
			WithHint("add a creation rule:\n  creation_rules:\n    - path_regex: %s$\n      age: age1…",
				regexp.QuoteMeta(file)).
			WithCode(diag.Secrets)
	}
	if stores != nil {
		r.indent = stores.YAML.Indent
	}
	return r, nil
}

// loadRule reads a rule with SOPS' own code, so that every key type, merge and
// regular expression means what it means to sops. That code reads files only,
// so the contents (which are public) go through a temporary one: the justified
// exception to this package's rule of touching no files.
func loadRule(data []byte, file string) (*config.Config, *config.StoresConfig, error) {
	dir, err := os.MkdirTemp("", "talosgen-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, ".sops.yaml")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return nil, nil, err
	}
	rule, err := config.LoadCreationRuleForFile(name, file, nil)
	if err != nil {
		return nil, nil, err
	}
	stores, err := config.LoadStoresConfig(name)
	return rule, stores, err
}

func ruleProblem(configName, file string, err error) *diag.Problem {
	text := firstLine(err.Error())
	if strings.Contains(text, "no matching creation rules") {
		return diag.New(diag.Pos{File: configName}, "no creation rule matches %s", file).
			WithHint("the first rule whose path_regex matches is used; add one at the end, with the public key of each operator:\n  - path_regex: \\.sops\\.(yaml|env)$\n    age: age1...").
			WithCode(diag.Secrets)
	}
	pos := diag.Pos{File: configName}
	return diag.New(pos, "%s", strings.TrimPrefix(text, "error loading config: ")).
		WithCode(diag.Secrets).WithCause(err)
}
