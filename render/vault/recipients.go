package vault

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/source"
)

// compareRecipients finds out who can read what the new files hold, and who could
// read the old ones.
func (d *Rekeying) compareRecipients(earlier []byte) error {
	w := d.writer
	coming, going, staying := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for file, data := range d.files {
		before, err := recipientsOf(file, w.Raw[file])
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
	names, err := w.Repo.RecipientNames(earlier)
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
	if !strings.HasSuffix(file, "/"+source.KeyringFile) {
		r, err := sopsage.FileRecipients(file, data)
		return r.Strings(), err
	}
	keyring, err := sopsage.ParseKeyring(file, data)
	if err != nil {
		return nil, err
	}
	return keyring.Recipients(sopsage.Operator).Strings(), nil
}
