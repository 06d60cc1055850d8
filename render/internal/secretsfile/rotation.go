package secretsfile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

// TalosCA is the kind of a rotation of the authority of the Talos API.
const TalosCA = "talos-ca"

// Authority is a certificate authority as bundles hold it: PEM in base64.
type Authority struct {
	Certificate, Key secret.String
}

// Rotation is the rotation that is under way.
type Rotation struct {
	Kind  string
	Phase rotation.Phase
	Since string // the day on which it began
	// In the phase accept the next authority, in issue the one before.
	Other Authority
}

// rotationText is how the file has it.
type rotationText struct {
	Kind  string `yaml:"kind"`
	Phase string `yaml:"phase"`
	Since string `yaml:"since"`
	Other struct {
		Crt string `yaml:"crt"`
		Key string `yaml:"key"`
	} `yaml:"other"`
}

// readRotation returns nil for what it does not know, also of later versions.
func readRotation(value *yaml.Node) *Rotation {
	var t rotationText
	if value.Load(&t, yaml.WithKnownFields()) != nil {
		return nil
	}
	r := &Rotation{Kind: t.Kind, Phase: rotation.Phase(t.Phase), Since: t.Since, Other: Authority{secret.New(t.Other.Crt), secret.New(t.Other.Key)}}
	known := r.Kind == TalosCA && (r.Phase == rotation.Accept || r.Phase == rotation.Issue)
	if !known || t.Other.Crt == "" || t.Other.Key == "" {
		return nil
	}
	return r
}

// Rotate returns the decrypted file in the phase that move leads to. move gets the
// state of the rotation of the authority of the Talos API. What else is there stays
// as it is, with its comments. since is noted if it begins.
func Rotate(file string, plain []byte, since string, move func(rotation.State[Authority]) (rotation.State[Authority], error)) ([]byte, error) {
	s, err := Parse(file, plain)
	if err != nil {
		return nil, err
	}
	root, err := parseRoot(file, plain)
	if err != nil {
		return nil, err
	}
	certificate, key := find(root, KeyTalos, "certs", "os", "crt"), find(root, KeyTalos, "certs", "os", "key")
	if certificate == nil || key == nil {
		return nil, diag.New(diag.Pos{File: file}, "has no authority of the Talos API (%s.certs.os)", KeyTalos).WithCode(diag.Secrets)
	}
	state := rotation.State[Authority]{Issuing: Authority{secret.New(certificate.Value), secret.New(key.Value)}}
	if s.Rotation != nil {
		since, state.Phase, state.Other = s.Rotation.Since, s.Rotation.Phase, s.Rotation.Other
	}
	if state, err = move(state); err != nil {
		return nil, err
	}
	certificate.Value, key.Value = state.Issuing.Certificate.Reveal(), state.Issuing.Key.Reveal()
	if i := slices.IndexFunc(root.Content, func(n *yaml.Node) bool { return n.Value == KeyRotation }); i >= 0 {
		root.Content = slices.Delete(root.Content, i, i+2)
	}
	if state.Phase != rotation.None {
		t := rotationText{Kind: TalosCA, Phase: string(state.Phase), Since: since}
		t.Other.Crt, t.Other.Key = state.Other.Certificate.Reveal(), state.Other.Key.Reveal()
		var node yaml.Node
		if err := node.Encode(t); err != nil {
			return nil, err
		}
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: KeyRotation}, &node)
	}
	return encode(file, root)
}

// find is the value of a mapping in mappings; nil if there is none.
func find(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		at := -1
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				at = i + 1
			}
		}
		if at < 0 {
			return nil
		}
		n = n.Content[at]
	}
	return n
}
