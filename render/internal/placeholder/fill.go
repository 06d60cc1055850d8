package placeholder

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// Fill puts placeholders into an encrypted file of YAML. A document of which
// not even the kind can be read is left out; what comes of the others is not complete then.
func Fill(file string, encrypted []byte) (plain []byte, complete bool, err error) {
	var out strings.Builder
	complete = true
	dec := yaml.NewDecoder(bytes.NewReader(encrypted))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return []byte(out.String()), complete, nil
		}
		if err != nil {
			return nil, false, diag.New(diag.Pos{File: file}, "not valid YAML").WithCode(diag.Secrets)
		}
		if len(doc.Content) == 0 {
			continue
		}
		root := doc.Content[0]
		dropKey(root, "sops")
		if hidesKind(root) {
			complete = false
			continue
		}
		fillIn(root)
		text, err := yaml.Marshal(root)
		if err != nil {
			return nil, false, diag.New(diag.Pos{File: file, Line: root.Line}, "a document cannot be written again").WithCode(diag.Secrets)
		}
		out.WriteString("---\n" + string(text))
	}
}

func hidesKind(root *yaml.Node) bool {
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		if key := root.Content[i].Value; (key == "apiVersion" || key == "kind") && sopsage.IsEncryptedValue(root.Content[i+1].Value) {
			return true
		}
	}
	return false
}

func dropKey(mapping *yaml.Node, key string) {
	for i := 0; mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = append(mapping.Content[:i:i], mapping.Content[i+2:]...)
			return
		}
	}
}

// fillIn replaces encrypted values by placeholders of their type.
func fillIn(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && sopsage.IsEncryptedValue(n.Value) {
		n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
		switch {
		case strings.HasSuffix(n.Value, ",type:int]"):
			n.Value, n.Tag, n.Style = "1", "!!int", 0
		case strings.HasSuffix(n.Value, ",type:float]"):
			n.Value, n.Tag, n.Style = "1.5", "!!float", 0
		case strings.HasSuffix(n.Value, ",type:bool]"):
			n.Value, n.Tag, n.Style = "true", "!!bool", 0
		default:
			n.Value = Text
		}
	}
	for _, c := range n.Content {
		fillIn(c)
	}
}
