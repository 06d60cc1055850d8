package secretsfile

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

// Authority is a certificate authority as bundles hold it: PEM in base64. Keys have no
// certificate, and the encryption key has a name.
type Authority struct {
	Certificate, Key secret.String
	Name             string
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
		Name string `yaml:"name,omitempty"`
		Crt  string `yaml:"crt,omitempty"`
		Key  string `yaml:"key"`
	} `yaml:"other"`
}

// readRotation returns nil for what it does not know, also of later versions.
func readRotation(value *yaml.Node) *Rotation {
	var t rotationText
	if value.Load(&t, yaml.WithKnownFields()) != nil {
		return nil
	}
	r := &Rotation{Kind: rotation.Kind(t.Kind), Signs: t.Signs, Phase: rotation.Phase(t.Phase), Since: t.Since, Other: Authority{secret.New(t.Other.Crt), secret.New(t.Other.Key), t.Other.Name}}
	known := r.Kind.Known() && (r.Phase == rotation.Accept || r.Phase == rotation.Issue)
	named := t.Other.Name == "" && r.Kind != rotation.EncryptionKey || r.Kind == rotation.EncryptionKey && rotation.IsKeyName(t.Other.Name)
	if !known || !named || (t.Other.Crt == "") == certified(r.Kind) || t.Other.Key == "" {
		return nil
	}
	return r
}

// certified reports whether what is rotated has a certificate.
func certified(kind rotation.Kind) bool {
	return kind == rotation.TalosCA || kind == rotation.KubernetesCA
}

// bundled is where files have what is rotated.
var bundled = map[rotation.Kind][]string{
	rotation.TalosCA: {KeyTalos, "certs", "os", "key"}, rotation.KubernetesCA: {KeyTalos, "certs", "k8s", "key"}, rotation.ServiceAccount: {KeyTalos, "certs", "k8sserviceaccount", "key"},
	rotation.EncryptionKey: {KeyTalos, "secrets", "secretboxencryptionsecret"}, rotation.AgeKey: {KeyClusterAgeKey},
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
	if kind == rotation.EncryptionKey {
		state.Issuing.Name = cmp.Or(s.EncryptionKeyName, rotation.FirstKeyName)
	}
	if r := s.Rotation; r != nil {
		if r.Kind != kind {
			return nil, underWay(file, r)
		}
		text.Since, text.Signs, state.Phase, state.Other = r.Since, r.Signs, r.Phase, r.Other
	}
	before := state.Phase
	if state, err = move(state); err != nil {
		return nil, err
	}
	h.set(state.Issuing)
	if kind == rotation.EncryptionKey {
		setKeyName(root, state.Issuing.Name)
	}
	remove(root, KeyRotation)
	switch {
	case kind != rotation.ServiceAccount || state.Phase != rotation.Issue:
		text.Signs = ""
	case before != rotation.Issue:
		text.Signs = today
	}
	if state.Phase != rotation.None {
		text.Phase, text.Other.Name = string(state.Phase), state.Other.Name
		text.Other.Crt, text.Other.Key = state.Other.Certificate.Reveal(), state.Other.Key.Reveal()
		var node yaml.Node
		if err := node.Encode(text); err != nil {
			return nil, err
		}
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: KeyRotation}, &node)
	}
	return encode(file, root)
}

// remove takes a key away, if it is there.
func remove(root *yaml.Node, key string) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			root.Content = slices.Delete(root.Content, i, i+2)
			return
		}
	}
}

// setKeyName notes the name of the key that encrypts; that of Talos' first one stands
// nowhere.
func setKeyName(root *yaml.Node, name string) {
	remove(root, KeyEncryptionKeyName)
	if name != rotation.FirstKeyName {
		root.Content = append(root.Content, stringNode(secret.New(KeyEncryptionKeyName)), stringNode(secret.New(name)))
	}
}

// holder are the places of a bundle that hold an authority. Keys have no certificate.
type holder struct{ certificate, key *yaml.Node }

func holderOf(file string, root *yaml.Node, kind rotation.Kind) (h holder, err error) {
	path := bundled[kind]
	h.key = find(root, path...)
	if certified(kind) {
		h.certificate = find(root, KeyTalos, "certs", path[2], "crt")
	}
	switch before := find(root, KeyTalos, "secrets", "aescbcencryptionsecret"); {
	case kind == rotation.EncryptionKey && before != nil && before.Value != "":
		return h, diag.New(diag.Pos{File: file}, "has an AES-CBC key (%s.secrets.aescbcencryptionsecret), as clusters from before Talos 1.3 have: Talos cannot replace it in a cluster that runs", KeyTalos).
			WithHint("make a new cluster, and move what runs there").WithCode(diag.Secrets)
	case h.key == nil || h.certificate == nil && certified(kind):
		return h, diag.New(diag.Pos{File: file}, "does not have %s (%s)", kind.Subject(), strings.TrimSuffix(strings.Join(path, "."), ".key")).WithCode(diag.Secrets)
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

// Mark is that of the authorities which a rotation has all nodes trust; empty if none is
// under way. It holds digests of certificates alone.
func (s *Secrets) Mark() string {
	r := s.Rotation
	if r == nil || !certified(r.Kind) {
		return ""
	}
	var bundle yaml.Node
	if err := yaml.Unmarshal([]byte(s.Talos.Reveal()), &bundle); err != nil || len(bundle.Content) == 0 {
		return ""
	}
	signs := find(bundle.Content[0], "certs", bundled[r.Kind][2], "crt")
	if signs == nil {
		return ""
	}
	return rotation.Mark(r.Kind, rotation.Trust{Issues: rotation.DigestOf(signs.Value), Accepts: []string{rotation.DigestOf(r.Other.Certificate.Reveal())}})
}
