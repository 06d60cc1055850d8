package schemas

import "encoding/base64"

// fingerprintSize is the length of a SHA-256 digest in bytes.
const fingerprintSize = 32

// IsFingerprint reports whether a text is the fingerprint of a certificate as
// Talos writes it: the SHA-256 digest of its public key, in base64.
func IsFingerprint(text string) bool {
	digest, err := base64.StdEncoding.Strict().DecodeString(text)
	return err == nil && len(digest) == fingerprintSize && base64.StdEncoding.EncodeToString(digest) == text
}
