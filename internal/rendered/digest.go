package rendered

import (
	"crypto/sha256"
	"encoding/hex"
)

const digestPrefix = "sha256:"

// Digest is how a lock names a content: its SHA-256, with the algorithm.
func Digest(data []byte) string {
	return DigestSum(sha256.Sum256(data))
}

// DigestSum is [Digest] of a content whose SHA-256 is known.
func DigestSum(sum [sha256.Size]byte) string {
	text := make([]byte, len(digestPrefix)+2*sha256.Size)
	copy(text, digestPrefix)
	hex.Encode(text[len(digestPrefix):], sum[:])
	return string(text)
}

// validDigest reports whether text is the prefix and 64 lower-case hex digits.
func validDigest(text, prefix string) bool {
	if len(text) != len(prefix)+2*sha256.Size || text[:len(prefix)] != prefix {
		return false
	}
	for i := len(prefix); i < len(text); i++ {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Matches compares a digest with a SHA-256 without making a text of it.
func Matches(digest string, sum [sha256.Size]byte) bool {
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return digest[len(digestPrefix):] == string(text[:])
}
