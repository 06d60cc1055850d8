package sopsage

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"strings"
)

const dataKeySize = 32

// deriveInfo separates talosgen's subkeys from any other use of a data key. A
// change of it would change every nonce, and with them every rendered file.
const deriveInfo = "talosgen v1 "

// DataKey is an unwrapped data key: what encrypts the values of one domain of
// one environment. It is safe for concurrent use; the [File] and the [Reader]
// that it makes are not.
type DataKey struct {
	masked
	key   []byte
	aead  cipher.AEAD
	ivKey []byte
	block skeleton // of files with marked leaves

	manifestBlock skeleton // of Kubernetes Secrets
}

func newDataKey(key []byte, block, manifestBlock skeleton) (*DataKey, error) {
	if len(key) != dataKeySize {
		return nil, errors.New("the data key has the wrong length")
	}
	block256, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithNonceSize(block256, nonceSize)
	if err != nil {
		return nil, err
	}
	d := &DataKey{key: key, aead: aead, block: block, manifestBlock: manifestBlock}
	d.ivKey = d.Derive("iv")
	return d, nil
}

// Derive gives a 32-byte subkey for a purpose that label names (HKDF-SHA256).
// "iv" is taken: it keys the nonces of [File].
func (d *DataKey) Derive(label string) []byte {
	subkey, err := hkdf.Key(sha256.New, d.key, nil, deriveInfo+label, 32)
	if err != nil {
		panic("sopsage: " + err.Error()) // 32 bytes are within any limit of HKDF
	}
	return subkey
}

// Equal reports whether two data keys are the same one.
func (d *DataKey) Equal(other *DataKey) bool { return hmac.Equal(d.key, other.key) }

// appendAAD appends the additional data that SOPS authenticates a value with:
// the path of its mapping keys, each followed by a colon, and one more colon
// for the empty path, as strings.Join(path, ":")+":" gives.
func appendAAD(dst []byte, path []string) []byte {
	if len(path) == 0 {
		return append(dst, ':')
	}
	for _, element := range path {
		dst = append(dst, element...)
		dst = append(dst, ':')
	}
	return dst
}

// pathString prints a path for people.
func pathString(path []string) string { return strings.Join(path, ".") }
