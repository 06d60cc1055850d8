package source

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// Recipient is a public key, and who has it.
type Recipient struct {
	Key  string
	Name string // as a comment of .sops.yaml says; may be empty
}

// String prints the key, and the name that a comment gives it.
func (r Recipient) String() string {
	key := r.Key
	const longest = 90 // of a post-quantum recipient, the first characters tell it apart
	if len(key) > longest {
		key = key[:longest] + "…"
	}
	if r.Name == "" {
		return key
	}
	return key + " (" + r.Name + ")"
}

// RecipientNames gives recipients the names that comments of .sops.yaml give
// them, as it is and as it was earlier.
func (r *Repo) RecipientNames(earlier []byte) (func(keys []string) []Recipient, error) {
	data, err := r.Files.ReadFile(SopsConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Pos{File: SopsConfig}, "cannot be read: %v", Reason(err)).WithCause(err)
	}
	return func(keys []string) []Recipient {
		now, before := sopsage.Names(data, keys), sopsage.Names(earlier, keys)
		named := make([]Recipient, len(keys))
		for i, key := range keys {
			named[i] = Recipient{Key: key, Name: now[key]}
			if named[i].Name == "" {
				named[i].Name = before[key]
			}
		}
		return named
	}, nil
}

// KeyRecipients returns whom .sops.yaml names for a file, for [sopsage.Env]. What
// is rendered, and the keyring, are for those for whom the secrets of the
// environment are.
func (r *Repo) KeyRecipients(file string) (sopsage.Recipients, error) {
	parts := strings.Split(file, "/")
	if len(parts) > 2 && (parts[0] == RenderedDir || parts[0] == EnvsDir && parts[2] == KeyringFile) {
		file = path.Join(EnvsDir, parts[1], SecretsName)
	}
	rule, err := r.Rule(file)
	if err != nil {
		return sopsage.Recipients{}, err
	}
	return rule.Recipients(), nil
}

// WhoChanges says who would come and who would go if everything that is encrypted
// for some recipients were encrypted for others; empty if nobody would.
func (r *Repo) WhoChanges(from, to sopsage.Recipients) string {
	names, err := r.RecipientNames(nil)
	if err != nil {
		return ""
	}
	before, now := from.Strings(), to.Strings()
	var lines []string
	add := func(what string, keys, unless []string) {
		for _, recipient := range names(keys) {
			if !slices.Contains(unless, recipient.Key) {
				lines = append(lines, what+" "+recipient.String())
			}
		}
	}
	add("added:    ", now, before)
	add("removed:  ", before, now)
	return strings.Join(lines, "\n")
}
