package encrypt

import (
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamltext"
)

var sopsTypes = map[yamltext.Kind]sopsage.Type{
	yamltext.String: sopsage.Str, yamltext.Int: sopsage.Int, yamltext.Float: sopsage.Float, yamltext.Bool: sopsage.Bool,
}

// Sealer encrypts the values of a file, for envelope.Seal.
type Sealer struct{ *sopsage.File }

// Encrypt returns a value in SOPS' format.
func (f Sealer) Encrypt(path []string, value string, kind yamltext.Kind) (string, error) {
	return f.File.Encrypt(path, value, sopsTypes[kind])
}

// Opener decrypts the values of a file, for envelope.Open.
type Opener struct{ Reader *sopsage.Reader }

// Decrypt returns a value in the clear, and what kind of value it is.
func (o Opener) Decrypt(path []string, encrypted string) (string, yamltext.Kind, error) {
	value, typ, err := o.Reader.Decrypt(path, encrypted)
	if err != nil {
		return "", 0, err
	}
	for kind, t := range sopsTypes {
		if t == typ {
			return value, kind, nil
		}
	}
	return value, yamltext.String, nil
}
