package addons

import (
	"bytes"
	"maps"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/leak"
	"go.yaml.in/yaml/v4"
)

// otherScalars replaces the scalars of a document that are encrypted in the
// committed one by others of their shape.
func otherScalars(plain, committed *yaml.Node, others leak.Others) {
	if plain.Kind != committed.Kind {
		return
	}
	if plain.Kind == yaml.ScalarNode && sopsage.IsEncryptedValue(committed.Value) {
		plain.Value = others.Of(plain.Value)
		return
	}
	if plain.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(plain.Content); i += 2 {
			for j := 0; j+1 < len(committed.Content); j += 2 {
				if committed.Content[j].Value == plain.Content[i].Value {
					otherScalars(plain.Content[i+1], committed.Content[j+1], others)
				}
			}
		}
		return
	}
	for i := range min(len(plain.Content), len(committed.Content)) {
		otherScalars(plain.Content[i], committed.Content[i], others)
	}
}

// otherText is a decrypted file with other values in place of its secrets.
func otherText(plain, encrypted []byte, others leak.Others) ([]byte, error) {
	docs, err := documents(plain)
	if err != nil {
		return nil, err
	}
	committed, err := documents(encrypted)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for i, doc := range docs {
		if i < len(committed) {
			otherScalars(doc, committed[i], others)
		}
		text, err := yaml.Marshal(doc)
		if err != nil {
			return nil, err
		}
		b.WriteString("---\n" + string(text))
	}
	return b.Bytes(), nil
}

// files are the files of the repository, those of addons decrypted.
func (r reader) files(v *variant) (memFS, error) {
	if v.files != nil {
		return v.files, nil
	}
	v.files = maps.Clone(r.texts.Files)
	var problems diag.List
	for _, file := range r.texts.Paths {
		if !strings.HasPrefix(file, r.dir("")+"/") {
			continue
		}
		data, encrypted, err := r.texts.Content(file)
		if err == nil && encrypted != nil && !v.real {
			data, err = otherText(data, encrypted, r.others)
		}
		problems.AddErr(err)
		v.files[file] = data
	}
	return v.files, problems.Err()
}
