package sopsage

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// GenerateIdentity makes an age key pair out of 32 bytes of random. The age
// library would take them from the system by itself; given as a reader, they
// can be fixed in a test.
func GenerateIdentity(random io.Reader) (private secret.String, public string, err error) {
	scalar, err := newKey(random)
	if err != nil {
		return secret.String{}, "", err
	}
	text := strings.ToUpper(bech32("age-secret-key-", scalar))
	id, err := age.ParseX25519Identity(text)
	if err != nil {
		return secret.String{}, "", fmt.Errorf("age does not accept the key that was made")
	}
	return secret.New(text), id.Recipient().String(), nil
}

// PublicKeys returns the public halves of the identities in a key file, such as
// the one of a shipped example. Identities of plugins and SSH keys have none
// that could be known here, and are left out.
func PublicKeys(file string, data []byte) ([]string, error) {
	ids, err := parser{}.file(file, data, true)
	if err != nil {
		return nil, diag.New(diag.Pos{File: file}, "%s", err).WithCode(diag.Secrets)
	}
	var public []string
	for _, id := range ids {
		switch id.(type) {
		case *age.X25519Identity, *age.HybridIdentity:
			public = append(public, publicOf(id, file))
		}
	}
	return public, nil
}

const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// bech32 encodes data with a lower-case prefix (BIP 173), which is how age
// writes its keys.
func bech32(prefix string, data []byte) string {
	var words []byte // groups of 5 bits
	var acc, bits uint
	for _, b := range data {
		acc, bits = acc<<8|uint(b), bits+8
		for ; bits >= 5; bits -= 5 {
			words = append(words, byte(acc>>(bits-5)&31))
		}
	}
	if bits > 0 {
		words = append(words, byte(acc<<(5-bits)&31))
	}
	var out bytes.Buffer
	out.WriteString(prefix + "1")
	for _, w := range append(words, bech32Checksum(prefix, words)...) {
		out.WriteByte(bech32Alphabet[w])
	}
	return out.String()
}

func bech32Checksum(prefix string, words []byte) []byte {
	var input []byte
	for _, c := range []byte(prefix) {
		input = append(input, c>>5)
	}
	input = append(input, 0)
	for _, c := range []byte(prefix) {
		input = append(input, c&31)
	}
	input = append(append(input, words...), 0, 0, 0, 0, 0, 0)
	chk := uint32(1)
	for _, v := range input {
		top := chk >> 25
		chk = (chk&0x1ffffff)<<5 ^ uint32(v)
		for i, generator := range []uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				chk ^= generator
			}
		}
	}
	chk ^= 1
	sum := make([]byte, 6)
	for i := range sum {
		sum[i] = byte(chk >> (5 * (5 - i)) & 31)
	}
	return sum
}
