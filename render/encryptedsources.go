package render

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/source"
)

// EncryptedSource is an encrypted source that is not as the last render read it.
// To encrypt one, public keys suffice, and a review cannot read what is in it.
type EncryptedSource struct {
	File   string // from the root of the repository
	Action string // added, removed, changed

	was string // its digest in the lock; empty if it is new
}

// encryptedChanges compares the encrypted sources with those of the last render;
// none are found before the first one.
func encryptedChanges(e *source.Environment) ([]EncryptedSource, error) {
	lock, err := e.LastLock()
	if err != nil || lock == nil {
		return nil, err
	}
	before := map[string]string{}
	for _, in := range lock.Inputs {
		before[in.Path] = in.Digest
	}
	var found []EncryptedSource
	for _, in := range e.Inputs {
		was, existed := before[in.Path]
		delete(before, in.Path)
		switch {
		case was == in.Digest || !sopsage.NamedEncrypted(in.Path) && !source.IsEncrypted(in.Path, e.Raw[in.Path]):
		case existed:
			found = append(found, EncryptedSource{in.Path, Changed, was})
		default:
			found = append(found, EncryptedSource{in.Path, Added, ""})
		}
	}
	for file, was := range before {
		if sopsage.NamedEncrypted(file) {
			found = append(found, EncryptedSource{file, Removed, was})
		}
	}
	sorting.By(found, func(a, b EncryptedSource) int { return cmp.Compare(a.File, b.File) })
	return found, nil
}

// Reveal decrypts an encrypted source, and returns the lines that are new in it,
// with a plus sign, and those that are gone, with a minus sign. If Git does not
// have what the last render read, all lines are new.
func (r *Repo) Reveal(ctx context.Context, env string, s EncryptedSource) ([]string, error) {
	keys, err := r.src.KeysOf(env)
	if err != nil {
		return nil, err
	}
	var old, now []byte
	if s.Action != Removed {
		data, err := r.src.Files.ReadFile(s.File)
		if err != nil {
			return nil, diag.New(diag.Pos{File: s.File}, "cannot be read: %v", source.Reason(err)).WithCause(err)
		}
		if now, err = decryptSource(ctx, keys, s.File, data); err != nil {
			return nil, err
		}
	}
	if s.was != "" && r.src.Process.Committed != nil {
		data, err := r.src.Process.Committed(s.File)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && rendered.Digest(data) == s.was {
			if old, err = decryptSource(ctx, keys, s.File, data); err != nil {
				return nil, err
			}
		}
	}
	return changedLines(string(old), string(now)), nil
}

func decryptSource(ctx context.Context, keys *sopsage.Keys, file string, data []byte) ([]byte, error) {
	if strings.HasSuffix(file, ".env") {
		return keys.DecryptDotenv(ctx, file, data)
	}
	return keys.DecryptYAML(ctx, file, data)
}

// changedLines are the lines of one text that the other has not, as often as that
// is so: those that are gone before those that are new.
func changedLines(old, now string) []string {
	count := func(text string) map[string]int {
		n := map[string]int{}
		for line := range strings.Lines(text) {
			n[strings.TrimRight(line, "\r\n")]++
		}
		return n
	}
	only := func(text string, other map[string]int, sign string) (lines []string) {
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			if other[line]--; other[line] < 0 {
				lines = append(lines, sign+line)
			}
		}
		return lines
	}
	gone := only(old, count(now), "- ")
	return append(gone, only(now, count(old), "+ ")...)
}
