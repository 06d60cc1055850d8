package chartlock

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/talosgen/talosgen/internal/diag"
)

// Artifact is what a reference stands for.
type Artifact struct {
	Path string // for messages: in the repository, or that it is in the cache
	Data []byte
}

// Store finds what a lock pins: in charts/, else in the cache.
type Store struct {
	Lock  *Lock // nil: the repository has none
	Files fs.FS // the repository
	// Cache returns the content with a digest, in hex, or [fs.ErrNotExist]. Nil:
	// there is no cache. The digest is checked here.
	Cache func(digest string) ([]byte, error)
}

// Artifact returns what a reference stands for. Its digest is that of the lock.
func (s *Store) Artifact(r Reference) (Artifact, error) {
	e, err := s.entry(r)
	if err != nil {
		return Artifact{}, err
	}
	a, err := s.Find(e)
	if errors.Is(err, fs.ErrNotExist) {
		return Artifact{}, diag.New(diag.Pos{File: path.Join(Dir, e.FileName())}, "%s is neither in %s/ nor in the cache", r, Dir).
			WithHint("`talosgen charts vendor` gets it, and keeps it in the repository;\n`talosgen render --fetch` gets it for this machine").WithCause(err)
	}
	return a, err
}

// entry is what the lock says of a reference.
func (s *Store) entry(r Reference) (Entry, error) {
	if s.Lock != nil {
		if e, found := s.Lock.Find(r); found {
			if r.SHA256 != "" && r.SHA256 != e.Digest {
				return e, broken("%s has the digest %s there, and %s where the addon is declared", r, e.Digest, r.SHA256).
					WithHint("find out which of them is right; `talosgen charts lock` makes the lock again")
			}
			return e, nil
		}
	}
	if r.URL != "" && r.SHA256 != "" {
		return Entry{Reference: r, Digest: r.SHA256}, nil // pinned where it is declared
	}
	return Entry{}, diag.New(diag.Pos{File: File}, "has no %s", r).WithHint("`talosgen charts lock` adds what addons need, with its digest")
}

// Find returns the bytes of an entry; [fs.ErrNotExist] if they are nowhere.
func (s *Store) Find(e Entry) (Artifact, error) {
	file := path.Join(Dir, e.FileName())
	data, err := fs.ReadFile(s.Files, file)
	switch {
	case err == nil:
		return Artifact{file, data}, Check(file, data, e)
	case !errors.Is(err, fs.ErrNotExist):
		return Artifact{}, diag.New(diag.Pos{File: file}, "cannot be read: %v", err).WithCause(err)
	case s.Cache == nil:
		return Artifact{}, fs.ErrNotExist
	}
	data, err = s.Cache(e.Digest)
	if err != nil {
		return Artifact{}, err
	}
	where := fmt.Sprintf("%s (in the cache)", e.FileName())
	return Artifact{where, data}, Check(where, data, e)
}

// Check compares content with the digest of its entry.
func Check(where string, data []byte, e Entry) error {
	if got := Digest(data); got != e.Digest {
		pinned := File + " pins"
		if e.SHA256 != "" {
			pinned = "the addon pins in cluster.yaml"
		}
		return diag.New(diag.Pos{File: where}, "is not what %s: its digest is %s, not %s", pinned, got, e.Digest).
			WithHint("if none of the operators changed the file, its source did: find out why, before you run it.\nOtherwise remove the file; `talosgen charts vendor` gets it again").
			WithCode(diag.Input)
	}
	return nil
}

// Digest is the SHA-256 of content, in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
