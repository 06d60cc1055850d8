package sopsage

import (
	"crypto/subtle"
	"hash"

	"github.com/talosgen/talosgen/internal/diag"
)

// Reader decrypts the leaves of one rendered file, the reverse of [File].
type Reader struct {
	masked
	key  *DataKey
	name string
	mac  hash.Hash
	aad  []byte
}

// Open starts to read a rendered file. The name appears in problems.
func (d *DataKey) Open(name string) *Reader {
	return &Reader{key: d, name: name, mac: newMAC()}
}

// Decrypt decrypts the next encrypted leaf in file order. It gives the value as
// [File.Encrypt] took it. Nothing that it returns may be trusted before
// [Reader.VerifyMAC] succeeded: a leaf by itself proves its path, not its file
// or its place among its siblings. SOPS never authenticates the type; only the
// seal over the rendered tree does.
func (r *Reader) Decrypt(path []string, enc string) (string, Type, error) {
	if enc == "" {
		return "", Str, nil
	}
	r.aad = appendAAD(r.aad[:0], path)
	plain, typ, err := r.open(enc)
	if err != nil {
		return "", "", r.tampered("%s was changed after it was encrypted", pathString(path))
	}
	value, err := fromSops(plain, typ)
	if err != nil {
		return "", "", r.tampered("%s holds %s", pathString(path), err)
	}
	r.mac.Write([]byte(plain))
	return value, typ, nil
}

// open decrypts a value under r.aad.
func (r *Reader) open(enc string) (string, Type, error) {
	s, err := parseSealed(enc)
	if err != nil {
		return "", "", err
	}
	plain, err := r.key.aead.Open(s.data[:0], s.iv, s.data, r.aad)
	if err != nil {
		return "", "", err
	}
	return string(plain), s.typ, nil
}

// VerifyMAC checks, after all leaves were decrypted, that none was exchanged,
// moved, added or removed, and that the block says what talosgen writes.
func (r *Reader) VerifyMAC(b *Block) error {
	if err := b.checkRules(); err != nil {
		return r.tampered("the sops block was changed: %s", err)
	}
	r.aad = append(r.aad[:0], b.lastModified...)
	want, typ, err := r.open(b.mac)
	if err != nil || typ != Str {
		return r.tampered("the mac or the date of the sops block was changed")
	}
	if subtle.ConstantTimeCompare([]byte(want), []byte(macString(r.mac))) != 1 {
		return r.tampered("the encrypted values are not the ones that were written together (MAC mismatch)")
	}
	return nil
}

func (r *Reader) tampered(format string, args ...any) *diag.Problem {
	return diag.New(diag.Pos{File: r.name}, format, args...).
		WithHint("rendered files are never edited: run `talosgen render`, or restore the file from Git").
		WithCode(diag.Secrets)
}
