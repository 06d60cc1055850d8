package convert

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamlerror"
	"github.com/talosgen/talosgen/render/internal/legacy"
)

// Options say how a patch is converted.
type Options struct {
	Workers bool // the patch applies to workers too
	All     bool // also what is deprecated but still accepted
}

// Patch rewrites a patch for the documents of Talos 1.14. What has no
// home there stays in place and is reported; out is the text unchanged if
// there is nothing to convert.
func Patch(file string, data []byte, o Options) (out []byte, remarks diag.List, err error) {
	if sopsage.IsEncryptedYAML(data) {
		return nil, nil, diag.New(diag.Pos{File: file}, "is encrypted: its values cannot be moved").
			WithHint("decrypt it with `sops -d`, convert it, and encrypt it again").WithCode(diag.Secrets)
	}
	var docs []*yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, yamlerror.Syntax(file, data, err)
		}
		if len(doc.Content) > 0 {
			docs = append(docs, doc.Content[0])
		}
	}
	converted, problems := legacy.Convert(file, docs, legacy.Options{Workers: o.Workers, All: o.All})
	remarks.Add(problems...)
	if sameDocuments(docs, converted) {
		return data, remarks, nil
	}
	out, err = legacy.Encode(converted)
	return out, remarks, err
}

func sameDocuments(a, b []*yaml.Node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
