package render

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// placeholder takes the place of a secret text. It is base64 of 32 bytes, which
// is what keys look like.
var placeholder = base64.StdEncoding.EncodeToString([]byte("talosgen placeholder, 32 bytes!!"))

// placeholders makes up secrets of the right shape, under the names that the
// encrypted files show.
func (e *environment) placeholders() (*secrets, error) {
	bundle, err := machine.PlaceholderBundle(bundleContract(), e.repo.world.Now())
	if err != nil {
		return nil, err
	}
	return &secrets{bundle: bundle, variables: e.secretVariables()}, nil
}

// secretVariables are the secret variables with placeholders as values.
func (e *environment) secretVariables() subst.Vars {
	vars := subst.Vars{}
	for _, name := range e.secretNames() {
		vars[name] = subst.Var{Value: placeholder, Secret: true}
	}
	return vars
}

// bundleContract is the contract of new bundles, which work for all contracts:
// bundles differ only in what old Talos versions lacked.
func bundleContract() string { return versions.Newest().Contract() }

// secretNames returns the names of the secret variables. SOPS encrypts values,
// not names.
func (e *environment) secretNames() []string {
	var names []string
	var file struct {
		Variables map[string]yaml.Node `yaml:"variables"`
	}
	// What is wrong with the files is found by whoever has the keys.
	if yaml.Unmarshal(e.raw[e.path(secretsName)], &file) == nil {
		for name := range file.Variables {
			names = append(names, name)
		}
	}
	for line := range strings.Lines(string(e.raw[e.path(secretEnvFile)])) {
		if name, value, ok := strings.Cut(line, "="); ok && sopsage.IsEncryptedValue(value) {
			names = append(names, name)
		}
	}
	return names
}

// withoutSecrets puts placeholders into an encrypted patch. A document of which
// not even the kind can be read is left out.
func withoutSecrets(file string, encrypted []byte) (plain []byte, complete bool, err error) {
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
			n.Value = placeholder
		}
	}
	for _, c := range n.Content {
		fillIn(c)
	}
}
