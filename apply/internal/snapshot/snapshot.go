// Package snapshot knows what a snapshot of etcd looks like: whether one is
// whole, what a file of one is called, and how it gets into a file that only
// operators can read. It talks to nobody.
package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// Info is what is known of a snapshot that is whole.
type Info struct {
	// The size in bytes, without the digest at its end.
	Size int64
	// The digest, SHA-256, in hexadecimal: that of the content, so equal
	// snapshots have the same however they are encrypted.
	Digest string
}

// ID tells a snapshot from others: half of its digest, since a label has no room
// for more.
func (i Info) ID() string { return i.Digest[:min(len(i.Digest), sha256.Size)] }

// block is what the size of etcd's database is a multiple of: with a digest
// behind it the size of a snapshot cannot be.
const block = 512

// Verifier is a writer that reads along whether a snapshot is whole. etcd
// appends the SHA-256 of the database to it.
type Verifier struct {
	sum  hash.Hash
	size int64
	tail []byte // of what came last: it may be the digest
}

// NewVerifier makes a verifier of one snapshot.
func NewVerifier() *Verifier { return &Verifier{sum: sha256.New()} }

// Write takes a piece. It never fails.
func (v *Verifier) Write(p []byte) (int, error) {
	v.tail = append(v.tail, p...)
	if n := len(v.tail) - sha256.Size; n > 0 {
		v.sum.Write(v.tail[:n])
		v.size += int64(n)
		v.tail = append(v.tail[:0], v.tail[n:]...)
	}
	return len(p), nil
}

// Finish says whether all that was written is a whole snapshot.
func (v *Verifier) Finish() (Info, error) {
	info := Info{Size: v.size, Digest: hex.EncodeToString(v.tail)}
	switch {
	case v.size == 0:
		return Info{}, damaged("it is empty")
	case v.size%block != 0:
		return Info{}, damaged("its size does not fit: it was cut off, or has no digest at its end").
			WithHint("talosgen etcd snapshot makes whole ones; a copied database file (member/snap/db) is none")
	case !bytes.Equal(v.sum.Sum(nil), v.tail):
		return Info{}, damaged("its content does not fit the digest at its end")
	}
	return info, nil
}

func damaged(why string) *diag.Problem {
	return diag.On("snapshot of etcd", "is not whole: %s", why).WithHint("take another one").WithCode(diag.Remote)
}

// FileName is what the file of a snapshot is called if nobody says otherwise:
// sorted by name, the files of a cluster are in the order of time.
func FileName(cluster string, at time.Time) string {
	return fmt.Sprintf("%s-etcd-%s.db.age", cluster, at.UTC().Format("20060102T150405Z"))
}

// Take copies a snapshot into an encrypting writer, closes that, and says
// whether it was whole. What is not whole was written nevertheless: the caller
// throws it away.
func Take(take func(io.Writer) error, encrypted io.WriteCloser) (Info, error) {
	v := NewVerifier()
	if err := take(io.MultiWriter(encrypted, v)); err != nil {
		return Info{}, err
	}
	info, err := v.Finish()
	if err != nil {
		return Info{}, err
	}
	return info, encrypted.Close()
}

// Verify reads a snapshot to its end.
func Verify(from io.Reader) (Info, error) {
	v := NewVerifier()
	if _, err := io.Copy(v, from); err != nil {
		return Info{}, err
	}
	return v.Finish()
}
