package secretsfile

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// Rebind returns the decrypted file with another secret that keyring.yaml is
// sealed with. Checksums keep the key that they have, which was that secret if the
// file has none of its own: a change of checksums would restart pods. What else is
// there stays as it is, with its comments.
func Rebind(file string, plain []byte, binding secret.String) ([]byte, error) {
	root, err := parseRoot(file, plain)
	if err != nil {
		return nil, err
	}
	value := func(key string) *yaml.Node {
		i := slices.IndexFunc(root.Content, func(n *yaml.Node) bool { return n.Value == key })
		if i < 0 || i%2 == 1 {
			return nil
		}
		return root.Content[i+1]
	}
	add := func(key string, node *yaml.Node) {
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, node)
	}
	old := value(KeyKeyringBinding)
	if old == nil {
		add(KeyKeyringBinding, stringNode(binding))
		return encode(file, root)
	}
	if value(KeyChecksumKey) == nil {
		add(KeyChecksumKey, stringNode(secret.New(old.Value)))
	}
	old.Value = binding.Reveal()
	return encode(file, root)
}

// encode prints the file as it is encrypted.
func encode(file string, root *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(4)
	if err := enc.Encode(root); err != nil {
		return nil, diag.New(diag.Pos{File: file}, "cannot be written as YAML").WithCode(diag.Secrets)
	}
	return b.Bytes(), nil
}
