package secretsfile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

// Authority is a certificate authority as bundles hold it: PEM in base64. The service
// account key has no certificate.
type Authority struct {
	Certificate, Key secret.String
}

// Rotation is the rotation that is under way.
type Rotation struct {
	Kind  rotation.Kind
	Phase rotation.Phase
	Since string // the day on which it began
	// The day on which the phase issue began, of the service account key; empty before.
	Signs string
	// In the phase accept the next authority, in issue the one before.
	Other Authority
}

// rotationText is how the file has it.
type rotationText struct {
	Kind  string `yaml:"kind"`
	Phase string `yaml:"phase"`
	Since string `yaml:"since"`
	Signs string `yaml:"signs,omitempty"`
	Other struct {
		Crt string `yaml:"crt,omitempty"`
		Key string `yaml:"key"`
	} `yaml:"other"`
}

// readRotation returns nil for what it does not know, also of later versions.
func readRotation(value *yaml.Node) *Rotation {
	var t rotationText
	if value.Load(&t, yaml.WithKnownFields()) != nil {
		return nil
	}
	r := &Rotation{Kind: rotation.Kind(t.Kind), Signs: t.Signs, Phase: rotation.Phase(t.Phase), Since: t.Since, Other: Authority{secret.New(t.Other.Crt), secret.New(t.Other.Key)}}
	known := r.Kind.Known() && (r.Phase == rotation.Accept || r.Phase == rotation.Issue)
	if !known || (t.Other.Crt == "") != (r.Kind == rotation.ServiceAccount) || t.Other.Key == "" {
		return nil
	}
	return r
}

// bundled is where bundles have what is rotated: below certs.
var bundled = map[rotation.Kind]string{
	rotation.TalosCA: "os", rotation.KubernetesCA: "k8s", rotation.ServiceAccount: "k8sserviceaccount",
}

// Rotate returns the decrypted file in the phase that move leads to. move gets the
// state of the rotation of a kind. What else is there stays as it is, with its
// comments. today is noted if it begins.
func Rotate(file string, plain []byte, kind rotation.Kind, today string, move func(rotation.State[Authority]) (rotation.State[Authority], error)) ([]byte, error) {
	s, err := Parse(file, plain)
	if err != nil {
		return nil, err
	}
	root, err := parseRoot(file, plain)
	if err != nil {
		return nil, err
	}
	h, err := holderOf(file, root, kind)
	if err != nil {
		return nil, err
	}
	text := rotationText{Kind: string(kind), Since: today}
	state := rotation.State[Authority]{Issuing: h.authority()}
	if r := s.Rotation; r != nil {
		if r.Kind != kind {
			return nil, diag.New(diag.Pos{File: file}, "has a rotation of %s under way", r.Kind.Subject()).
				WithHint("one after the other: end it first, or go back with --abort (talosgen rotate <env> %s)", r.Kind).WithCode(diag.Conflict)
		}
		text.Since, text.Signs, state.Phase, state.Other = r.Since, r.Signs, r.Phase, r.Other
	}
	before := state.Phase
	if state, err = move(state); err != nil {
		return nil, err
	}
	h.set(state.Issuing)
	if i := slices.IndexFunc(root.Content, func(n *yaml.Node) bool { return n.Value == KeyRotation }); i >= 0 {
		root.Content = slices.Delete(root.Content, i, i+2)
	}
	switch {
	case kind != rotation.ServiceAccount || state.Phase != rotation.Issue:
		text.Signs = ""
	case before != rotation.Issue:
		text.Signs = today
	}
	if state.Phase != rotation.None {
		text.Phase, text.Other.Crt, text.Other.Key = string(state.Phase), state.Other.Certificate.Reveal(), state.Other.Key.Reveal()
		var node yaml.Node
		if err := node.Encode(text); err != nil {
			return nil, err
		}
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: KeyRotation}, &node)
	}
	return encode(file, root)
}

// holder are the places of a bundle that hold an authority. The service account key
// has no certificate.
type holder struct{ certificate, key *yaml.Node }

func holderOf(file string, root *yaml.Node, kind rotation.Kind) (holder, error) {
	h := holder{find(root, KeyTalos, "certs", bundled[kind], "crt"), find(root, KeyTalos, "certs", bundled[kind], "key")}
	if h.key == nil || h.certificate == nil && kind != rotation.ServiceAccount {
		return h, diag.New(diag.Pos{File: file}, "does not have %s (%s.certs.%s)", kind.Subject(), KeyTalos, bundled[kind]).WithCode(diag.Secrets)
	}
	return h, nil
}

func (h holder) authority() (a Authority) {
	a.Key = secret.New(h.key.Value)
	if h.certificate != nil {
		a.Certificate = secret.New(h.certificate.Value)
	}
	return a
}

func (h holder) set(a Authority) {
	h.key.Value = a.Key.Reveal()
	if h.certificate != nil {
		h.certificate.Value = a.Certificate.Reveal()
	}
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
