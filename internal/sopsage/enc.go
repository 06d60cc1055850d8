package sopsage

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Type is the type of an encrypted scalar, as SOPS writes it behind "type:".
type Type string

// The types a rendered leaf can have. SOPS knows time, bytes and comment too;
// talosgen never writes them.
const (
	Str   Type = "str"
	Int   Type = "int"
	Float Type = "float"
	Bool  Type = "bool"
)

const (
	encPrefix = "ENC[AES256_GCM,data:"
	nonceSize = 32 // what SOPS uses; GCM's usual 12 bytes would not be read back
	tagSize   = 16
)

var errFormat = errors.New("not in the format of an encrypted value")

// IsEncryptedValue reports whether a scalar looks like a value that SOPS
// encrypted.
func IsEncryptedValue(text string) bool { return strings.HasPrefix(text, encPrefix) }

// sealed is an encrypted value taken apart.
type sealed struct {
	data []byte // ciphertext with the tag behind it, as GCM wants it
	iv   []byte
	typ  Type
}

// parseSealed takes an encrypted value apart. It is stricter than sops, which
// accepts any nonce length and text behind the closing bracket: what talosgen
// wrote never has either. Its errors hold nothing of the text, which may be a
// secret that was never encrypted.
func parseSealed(text string) (sealed, error) {
	rest, ok := strings.CutPrefix(text, encPrefix)
	if !ok {
		return sealed{}, errFormat
	}
	data, rest, ok1 := strings.Cut(rest, ",iv:")
	iv, rest, ok2 := strings.Cut(rest, ",tag:")
	tag, rest, ok3 := strings.Cut(rest, ",type:")
	typ, ok4 := strings.CutSuffix(rest, "]")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return sealed{}, errFormat
	}
	strict := base64.StdEncoding.Strict()
	s := sealed{typ: Type(typ)}
	var err1, err2, err3 error
	var tagBytes []byte
	s.data, err1 = strict.DecodeString(data)
	s.iv, err2 = strict.DecodeString(iv)
	tagBytes, err3 = strict.DecodeString(tag)
	// DecodeString skips line breaks; nothing that was written has any.
	if errors.Join(err1, err2, err3) != nil || strings.ContainsAny(text, "\r\n") ||
		len(s.iv) != nonceSize || len(tagBytes) != tagSize {
		return sealed{}, errFormat
	}
	s.data = append(s.data, tagBytes...)
	return s, nil
}

// String puts an encrypted value together.
func (s sealed) String() string {
	text := make([]byte, 0, len(encPrefix)+base64.StdEncoding.EncodedLen(len(s.data))+len(s.typ)+96)
	body := len(s.data) - tagSize
	text = append(text, encPrefix...)
	text = base64.StdEncoding.AppendEncode(text, s.data[:body])
	text = append(text, ",iv:"...)
	text = base64.StdEncoding.AppendEncode(text, s.iv)
	text = append(text, ",tag:"...)
	text = base64.StdEncoding.AppendEncode(text, s.data[body:])
	text = append(text, ",type:"...)
	text = append(text, s.typ...)
	return string(append(text, ']'))
}

// toSops turns the YAML text of a scalar into the bytes that SOPS encrypts and
// hashes for it. It refuses what would not come back as the same value.
func toSops(value string, typ Type) (string, error) {
	switch typ {
	case Str:
		return value, nil
	case Int:
		n, err := strconv.Atoi(value)
		if err != nil || strconv.Itoa(n) != value {
			return "", errors.New("an integer that is not in plain decimal form, or too large")
		}
		return value, nil
	case Float:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return "", errors.New("a number that is not finite")
		}
		return strconv.FormatFloat(f, 'f', -1, 64), nil
	case Bool:
		switch value {
		case "true":
			return "True", nil
		case "false":
			return "False", nil
		}
		return "", errors.New("a boolean that is neither true nor false")
	default:
		return "", errors.New("a type of value that cannot be encrypted")
	}
}

// fromSops is the reverse of [toSops].
func fromSops(plain string, typ Type) (string, error) {
	if typ == Bool {
		plain = strings.ToLower(plain)
	}
	if _, err := toSops(plain, typ); err != nil {
		return "", err
	}
	return plain, nil
}
