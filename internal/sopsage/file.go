package sopsage

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"github.com/getsops/sops/v3"

	"github.com/talosgen/talosgen/internal/diag"
)

// File encrypts the leaves of one rendered file. It holds the running MAC, so
// every File belongs to one file and is used by one goroutine.
type File struct {
	masked
	key    *DataKey
	block  *skeleton
	name   string
	iv     hash.Hash // HMAC that gives the nonces
	mac    hash.Hash // SHA-512 over the plaintexts, as SOPS computes it
	leaves int

	prefix, aad, plain, nonce, out []byte // reused between leaves
}

// File starts a rendered file. The name is its path in the rendered tree, with
// slashes: it is part of every nonce, so equal values in two files never share
// one.
func (d *DataKey) File(name string) *File {
	return &File{key: d, block: &d.block, name: name, iv: hmac.New(sha256.New, d.ivKey), mac: newMAC()}
}

// Manifest starts a rendered file that is one Kubernetes Secret, as
// [DataKey.File] does. Of such a file every leaf of which [InManifest] says so
// is to be encrypted, and no marker stands behind it.
func (d *DataKey) Manifest(name string) *File {
	f := d.File(name)
	f.block = &d.manifestBlock
	return f
}

// InManifest tells whether a leaf of a Kubernetes Secret is encrypted: the path
// holds the keys that lead to it. SOPS looks for the names anywhere in a path.
func InManifest(path []string) bool {
	return slices.Contains(path, "data") || slices.Contains(path, "stringData")
}

// newMAC starts a MAC over encrypted values only (mac_only_encrypted).
func newMAC() hash.Hash {
	mac := sha512.New()
	mac.Write(sops.MACOnlyEncryptedInitialization)
	return mac
}

// macString formats a finished MAC as SOPS stores it.
func macString(mac hash.Hash) string {
	return strings.ToUpper(hex.EncodeToString(mac.Sum(nil)))
}

// Encrypt encrypts the next leaf in file order and gives the scalar that takes
// its place. The value is the leaf's YAML text: for [Str] the string itself,
// for the other types their plain spelling (42, 1.5, true). An empty string
// stays as it is. It fails only for a value that SOPS could not give back, such
// as an integer beyond 64 bits.
func (f *File) Encrypt(path []string, value string, typ Type) (string, error) {
	plain, err := toSops(value, typ)
	if err != nil {
		return "", diag.New(diag.Pos{File: f.name}, "%s holds %s", pathString(path), err).
			WithHint("a secret leaf must be a string, a decimal integer, a finite number, true or false").
			WithCode(diag.Secrets)
	}
	f.leaves++
	if plain == "" {
		return "", nil
	}
	f.aad = appendAAD(f.aad[:0], path)
	f.plain = append(f.plain[:0], plain...)
	f.mac.Write(f.plain)
	return f.seal(typ), nil
}

// seal encrypts f.plain under f.aad.
func (f *File) seal(typ Type) string {
	f.iv.Reset()
	f.prefix = appendField(f.prefix[:0], f.name)
	f.prefix = appendField(f.prefix, string(f.aad))
	f.prefix = appendField(f.prefix, string(typ))
	f.iv.Write(f.prefix)
	f.iv.Write(f.plain)
	f.nonce = f.iv.Sum(f.nonce[:0])
	f.out = f.key.aead.Seal(f.out[:0], f.nonce, f.plain, f.aad)
	return sealed{data: f.out, iv: f.nonce, typ: typ}.String()
}

// appendField appends a field that cannot be confused with its neighbours: its
// length, then its bytes.
func appendField(dst []byte, field string) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(field)))
	return append(dst, field...)
}

// Leaves returns how many leaves went through [File.Encrypt]. A file with none
// needs no block.
func (f *File) Leaves() int { return f.leaves }

// Block gives the sops block of the file, once all leaves are encrypted: text
// that starts with "sops:" in the first column and ends with a line break.
func (f *File) Block() []byte {
	b := f.block
	f.aad = append(f.aad[:0], b.lastModified...) // no colon at its end, so no leaf can have it
	f.plain = append(f.plain[:0], macString(f.mac)...)
	return []byte(b.before + f.seal(Str) + b.after)
}
