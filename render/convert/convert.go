package convert

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamlerror"
	"github.com/talosgen/talosgen/render/internal/legacy"
)

// Options say how a patch is converted.
type Options struct {
	Workers bool // the patch applies to workers too
	Split   bool // with a patch of their own for documents that workers do not take
	All     bool // also what is deprecated but still accepted
}

// Converted is a patch for the documents of Talos 1.14.
type Converted struct {
	Text []byte // of the patch; unchanged if there is nothing to convert
	// Of a patch for control planes, with the documents that workers do not take;
	// empty if there are none, or if they stay in the patch.
	ControlPlanes []byte
}

// Patch rewrites a patch for the documents of Talos 1.14. What has no
// home there stays in place and is reported.
func Patch(file string, data []byte, o Options) (out Converted, remarks diag.List, err error) {
	if sopsage.IsEncryptedYAML(data) {
		return Converted{}, nil, diag.New(diag.Pos{File: file}, "is encrypted: its values cannot be moved").
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
			return Converted{}, nil, yamlerror.Syntax(file, data, err)
		}
		if len(doc.Content) > 0 {
			docs = append(docs, doc.Content[0])
		}
	}
	split := o.Workers && o.Split
	converted, problems := legacy.Convert(file, docs, legacy.Options{Workers: o.Workers && !split, All: o.All})
	remarks.Add(problems...)
	if sameDocuments(docs, converted) {
		return Converted{Text: data}, remarks, nil
	}
	var controlPlanes []*yaml.Node
	if split {
		converted, controlPlanes = apart(docs, converted)
	}
	if out.Text, err = legacy.Encode(converted); err == nil && len(controlPlanes) > 0 {
		out.ControlPlanes, err = legacy.Encode(controlPlanes)
	}
	return out, remarks, err
}

// apart separates the new documents that workers do not take.
func apart(before, after []*yaml.Node) (all, controlPlanes []*yaml.Node) {
	for _, doc := range after {
		if !slices.Contains(before, doc) && legacy.ControlPlaneOnly(kindOf(doc)) {
			controlPlanes = append(controlPlanes, doc)
		} else {
			all = append(all, doc)
		}
	}
	return all, controlPlanes
}

func kindOf(doc *yaml.Node) string {
	var head struct {
		Kind string `yaml:"kind"`
	}
	_ = doc.Decode(&head) // what has no kind is not for control planes only
	return head.Kind
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
