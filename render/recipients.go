package render

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// compareRecipients finds out who can read what the new files hold, and who could
// read the old ones.
func (d *Rekeying) compareRecipients(earlier []byte) error {
	k := d.keeper
	coming, going, staying := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for file, data := range d.files {
		before, err := recipientsOf(file, k.raw[file])
		if err != nil {
			return err
		}
		now, err := recipientsOf(file, data)
		if err != nil {
			return err
		}
		for _, r := range before {
			staying[r] = true
			going[r] = going[r] || !slices.Contains(now, r)
		}
		for _, r := range now {
			staying[r] = true
			coming[r] = coming[r] || !slices.Contains(before, r)
		}
	}
	names, err := k.repo.recipientNames(earlier)
	if err != nil {
		return err
	}
	var all []string
	for r := range staying {
		all = append(all, r)
	}
	slices.Sort(all)
	for _, r := range names(all) {
		if coming[r.Key] {
			d.Coming = append(d.Coming, r)
		}
		if going[r.Key] {
			d.Going = append(d.Going, r)
		}
		if !coming[r.Key] && !going[r.Key] {
			d.Staying = append(d.Staying, r)
		}
	}
	return nil
}

// recipientsOf are those who can read an encrypted source, or what the operators'
// data key of a keyring encrypts.
func recipientsOf(file string, data []byte) ([]string, error) {
	if !strings.HasSuffix(file, "/"+keyringFile) {
		r, err := sopsage.FileRecipients(file, data)
		return r.Strings(), err
	}
	keyring, err := sopsage.ParseKeyring(file, data)
	if err != nil {
		return nil, err
	}
	return keyring.Recipients(sopsage.Operator).Strings(), nil
}

// recipientNames gives recipients the names that comments of .sops.yaml give
// them, as it is and as it was earlier.
func (r *Repo) recipientNames(earlier []byte) (func(keys []string) []Recipient, error) {
	data, err := r.files.ReadFile(sopsConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Pos{File: sopsConfig}, "cannot be read: %v", reason(err)).WithCause(err)
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
	if len(parts) > 2 && (parts[0] == renderedDir || parts[0] == envsDir && parts[2] == keyringFile) {
		file = path.Join(envsDir, parts[1], secretsName)
	}
	rule, err := r.rule(file)
	if err != nil {
		return sopsage.Recipients{}, err
	}
	return rule.Recipients(), nil
}

// whoChanges says who would come and who would go if everything that is encrypted
// for some recipients were encrypted for others; empty if nobody would.
func (r *Repo) whoChanges(from, to sopsage.Recipients) string {
	names, err := r.recipientNames(nil)
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
	add("comes:", now, before)
	add("goes: ", before, now)
	return strings.Join(lines, "\n")
}
