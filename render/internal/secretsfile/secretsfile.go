// Package secretsfile owns the content of envs/<env>/secrets.sops.yaml, once it
// is decrypted: what it holds, and how something is added to it.
package secretsfile

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

// Name is the file's name in the directory of an environment.
const Name = "secrets.sops.yaml"

// Keys of the file, in the order in which it is written.
const (
	KeyTalos          = "talos"          // the Talos secrets bundle, as `talosctl gen secrets` writes it
	KeyClusterAgeKey  = "clusterAgeKey"  // the private age key that the cluster itself holds
	KeyKeyringBinding = "keyringBinding" // what keyring.yaml is sealed with
	KeyChecksumKey    = "checksumKey"    // what keyed checksums are made with; absent: keyringBinding
	KeySSHHostKey     = "sshHostKey"     // the private SSH host key of the NAT gateway
	KeyDeployKey      = "deployKey"      // the private SSH key that Flux reads the repository with
	KeyRotation       = "rotation"       // the rotation that is under way
	// KeyEncryptionKeyName is the name of the key that Secrets in etcd are encrypted with,
	// once it was rotated; absent: as Talos names it.
	KeyEncryptionKeyName = "encryptionKeyName"
	KeyVariables         = "variables" // secret variables, for ${NAME} in patches
)

var keys = []string{KeyTalos, KeyClusterAgeKey, KeyKeyringBinding, KeyChecksumKey, KeySSHHostKey, KeyDeployKey, KeyEncryptionKeyName, KeyRotation, KeyVariables}

// singles are the keys with a single value each.
var singles = []string{KeyClusterAgeKey, KeyKeyringBinding, KeyChecksumKey, KeySSHHostKey, KeyDeployKey}

// Secrets are the secrets of an environment.
type Secrets struct {
	Talos          secret.String // YAML; empty if the file has none
	ClusterAgeKey  secret.String
	KeyringBinding secret.String
	ChecksumKey    secret.String // empty: the binding
	SSHHostKey     secret.String
	DeployKey      secret.String
	Rotation       *Rotation // nil: none is under way
	// The name of the encryption key of Secrets; empty: as Talos names it. It is no secret.
	EncryptionKeyName string
	Variables         map[string]secret.String
}

// Parse reads the decrypted file. Problems name keys, never values.
func Parse(file string, plain []byte) (*Secrets, error) {
	root, err := parseRoot(file, plain)
	if err != nil {
		return nil, err
	}
	s := &Secrets{Variables: map[string]secret.String{}}
	var problems diag.List
	problem := func(key, message string) {
		problems.Add(diag.New(diag.Pos{File: file}, "%s %s", key, message).WithCode(diag.Secrets))
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i].Value, root.Content[i+1]
		switch key {
		case KeyTalos:
			text, err := yaml.Marshal(value)
			if err != nil || value.Kind != yaml.MappingNode {
				problem(key, "is not a secrets bundle")
				continue
			}
			s.Talos = secret.New(string(text))
		case KeyClusterAgeKey, KeyKeyringBinding, KeyChecksumKey, KeySSHHostKey, KeyDeployKey:
			if value.Kind != yaml.ScalarNode || value.Value == "" {
				problem(key, "is not a single value")
				continue
			}
			*s.single(key) = secret.New(value.Value)
		case KeyEncryptionKeyName:
			if s.EncryptionKeyName = value.Value; value.Kind != yaml.ScalarNode || !rotation.IsKeyName(value.Value) {
				problem(key, "is not the name of a key")
			}
		case KeyRotation:
			if s.Rotation = readRotation(value); s.Rotation == nil {
				problem(key, "is not a rotation that this talosgen knows")
			}
		case KeyVariables:
			readVariables(value, s.Variables, problem)
		default:
			problems.Add(diag.New(diag.Pos{File: file}, "unknown key %q", key).
				WithHint("%s", hint(key)).WithCode(diag.Secrets))
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// single is the place of a secret that is a single value.
func (s *Secrets) single(key string) *secret.String {
	switch key {
	case KeyClusterAgeKey:
		return &s.ClusterAgeKey
	case KeyKeyringBinding:
		return &s.KeyringBinding
	case KeyChecksumKey:
		return &s.ChecksumKey
	case KeyDeployKey:
		return &s.DeployKey
	default:
		return &s.SSHHostKey
	}
}

func hint(key string) string {
	if h := diag.Suggest(key, keys); h != "" {
		return h
	}
	if slices.Contains([]string{"cluster", "secrets", "trustdinfo", "certs"}, key) {
		return "this looks like a bundle of `talosctl gen secrets`: take it over with `talosgen secrets import`"
	}
	return "a secret variable belongs under variables:"
}

func readVariables(value *yaml.Node, to map[string]secret.String, problem func(key, message string)) {
	if value.Tag == "!!null" {
		return
	}
	if value.Kind != yaml.MappingNode {
		problem(KeyVariables, "is not a mapping of names to values")
		return
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, v := value.Content[i].Value, value.Content[i+1]
		if v.Kind != yaml.ScalarNode {
			problem(KeyVariables+"."+name, "is not a single value")
			continue
		}
		to[name] = secret.New(v.Value)
	}
}

func parseRoot(file string, plain []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(plain, &doc); err != nil {
		return nil, diag.New(diag.Pos{File: file}, "what is encrypted in it is not valid YAML").WithCode(diag.Secrets)
	}
	if len(doc.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, diag.New(diag.Pos{File: file}, "what is encrypted in it is not a mapping").WithCode(diag.Secrets)
	}
	return doc.Content[0], nil
}

// Add returns the decrypted file with the parts of s that it does not have yet.
// What is there stays as it is, with its comments. added names the new keys.
func Add(file string, plain []byte, s *Secrets) (out []byte, added []string, err error) {
	root, err := parseRoot(file, plain)
	if err != nil {
		return nil, nil, err
	}
	has := func(key string) bool {
		return slices.ContainsFunc(root.Content, func(n *yaml.Node) bool { return n.Value == key })
	}
	add := func(key string, value *yaml.Node) {
		if !has(key) {
			root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
			added = append(added, key)
		}
	}
	if !s.Talos.IsZero() {
		bundle, err := parseRoot(file, []byte(s.Talos.Reveal()))
		if err != nil {
			return nil, nil, err
		}
		add(KeyTalos, bundle)
	}
	for _, key := range singles {
		if value := *s.single(key); !value.IsZero() {
			add(key, stringNode(value))
		}
	}
	variables, err := addVariables(file, root, s.Variables)
	if err != nil {
		return nil, nil, err
	}
	added = append(added, variables...)
	if len(added) == 0 {
		return plain, nil, nil
	}
	if out, err = encode(file, root); err != nil {
		return nil, nil, err
	}
	return out, added, nil
}

// addVariables adds the secret variables that are not there yet, in the order of
// their names, and returns what it added.
func addVariables(file string, root *yaml.Node, variables map[string]secret.String) (added []string, err error) {
	var mapping *yaml.Node
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == KeyVariables {
			mapping = root.Content[i+1]
		}
	}
	if mapping != nil && mapping.Tag == "!!null" {
		mapping.Kind, mapping.Tag, mapping.Value = yaml.MappingNode, "!!map", ""
	}
	if mapping != nil && mapping.Kind != yaml.MappingNode {
		return nil, diag.New(diag.Pos{File: file}, "%s is not a mapping of names to values", KeyVariables).WithCode(diag.Secrets)
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if mapping == nil {
			mapping = &yaml.Node{Kind: yaml.MappingNode}
			root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: KeyVariables}, mapping)
		}
		has := false
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			has = has || mapping.Content[i].Value == name
		}
		if !has {
			mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, stringNode(variables[name]))
			added = append(added, KeyVariables+"."+name)
		}
	}
	return added, nil
}

func stringNode(s secret.String) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s.Reveal()}
}
