package catalogue

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
)

// MaxUserData is how much user data Hetzner takes with a server, in bytes.
const MaxUserData = 32 << 10

// UserData packs a machine configuration as user data for Hetzner Cloud: gzip,
// in base64. Talos unpacks both since 1.9. Equal configurations give equal texts.
func UserData(configuration []byte) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(configuration); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
