package nodeconfig

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/rotation"
)

// Documents of Talos 1.14 that hold what was in the main document before.
const (
	apiServerCA    = "KubeAPIServerCAConfig"
	serviceAccount = "KubeServiceAccountConfig"
)

// Trust is which authorities of a kind a configuration names, by digests of their
// certificates, public keys or secrets. Workers have neither a service account key nor
// one of encryption.
func (c *Config) Trust(kind rotation.Kind) rotation.Trust {
	var main *yaml.Node
	if d := c.find(ID{}); d != nil {
		main = d.root
	}
	switch kind {
	case rotation.TalosCA:
		return trust(textAt(main, "machine", "ca", "crt"), listed(at(main, "machine", "acceptedCAs")))
	case rotation.KubernetesCA:
		if d := c.kind(apiServerCA); d != nil {
			return kubernetesTrust(d.root)
		}
		return trust(textAt(main, "cluster", "ca", "crt"), listed(at(main, "cluster", "acceptedCAs")))
	case rotation.ServiceAccount:
		if d := c.kind(serviceAccount); d != nil {
			return trust(publicKey(textAt(d.root, "issuer", "privateKey")), listed(at(d.root, "accepted", "publicKeys")))
		}
		return trust(publicKey(textAt(main, "cluster", "serviceAccount", "key")), nil)
	case rotation.MachineToken:
		return rotation.Trust{Issues: rotation.DigestOf(textAt(main, "machine", "token"))}
	case rotation.EncryptionKey:
		if d := c.kind(encryptionConfig); d != nil {
			return encryptionTrust(d.root)
		}
	}
	return rotation.Trust{}
}

// kubernetesTrust reads the document of Talos 1.14. Workers have one list: the first
// of it is the one that signs, as before in cluster.ca.
func kubernetesTrust(root *yaml.Node) rotation.Trust {
	accepted := listed(at(root, "acceptedCAs"))
	if issuing := textAt(root, "issuingCA", "cert"); issuing != "" || len(accepted) == 0 {
		return trust(issuing, accepted)
	}
	return trust(accepted[0], accepted[1:])
}

func trust(issuing string, accepted []string) rotation.Trust {
	t := rotation.Trust{Issues: rotation.DigestOf(issuing)}
	for _, a := range accepted {
		t.Accepts = append(t.Accepts, rotation.DigestOf(a))
	}
	return t
}

// textAt is the value of a key in mappings; empty if there is none.
func textAt(root *yaml.Node, keys ...string) string {
	last := len(keys) - 1
	return textOf(at(root, keys[:last]...), keys[last])
}

// listed are the certificates or keys of a list: text, or mappings with crt.
func listed(list *yaml.Node) (texts []string) {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	for _, n := range list.Content {
		if n.Kind == yaml.ScalarNode {
			texts = append(texts, n.Value)
		} else {
			texts = append(texts, textOf(n, "crt"))
		}
	}
	return texts
}

// publicKey is that of a private key, as Talos writes it; what cannot be read stands
// for itself.
func publicKey(private string) string {
	block, _ := pem.Decode([]byte(rotation.PlainPEM(private)))
	if block == nil {
		return private
	}
	public, err := publicOf(block.Bytes)
	if err != nil {
		return private
	}
	return string(public)
}

func publicOf(der []byte) ([]byte, error) {
	var public any
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		public = key.Public()
	} else if key, err := x509.ParseECPrivateKey(der); err == nil {
		public = key.Public()
	} else {
		key, err := x509.ParsePKCS8PrivateKey(der)
		if err != nil {
			return nil, err
		}
		signer, is := key.(interface{ Public() crypto.PublicKey })
		if !is {
			return nil, x509.ErrUnsupportedAlgorithm
		}
		public = signer.Public()
	}
	text, err := x509.MarshalPKIXPublicKey(public)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: text}), err
}

// rotatedPlaces are where configurations name authorities.
var rotatedPlaces = map[rotation.Kind][]place{
	rotation.TalosCA:        {{"", "machine.ca"}},
	rotation.KubernetesCA:   {{"", "cluster.ca"}, {"", "cluster.acceptedCAs"}, {apiServerCA, ""}},
	rotation.ServiceAccount: {{serviceAccount, "issuer.privateKey"}, {serviceAccount, "accepted.publicKeys"}},
	rotation.EncryptionKey:  {{encryptionConfig, "config"}},
}

// rotated is the class of a difference in an authority that a node goes from, or to,
// while it trusts both; ok is false if the difference is another one. Of an authority
// that the node does not trust yet it is refused.
func (c *comparison) rotated(l leaf) (class Class, reason string, ok bool) {
	for _, kind := range rotation.Kinds() {
		for _, p := range rotatedPlaces[kind] {
			if !p.covers(l.id, l.path) {
				continue
			}
			has, wants := c.active.Trust(kind), c.desired.Trust(kind)
			switch {
			case has.Issues == "" || wants.Issues == "":
				return "", "", false
			case kind == rotation.EncryptionKey && (!rotation.Step(has, wants) || !readableAfter(c.active, c.desired)):
				return Refused, unreadable, true
			case has.Equal(wants):
				return "", "", false
			case !rotation.Step(has, wants):
				return Refused, identity, true
			case kind == rotation.TalosCA || !c.desired.controlPlane():
				return NoReboot, kind.Subject() + " is rotated", true
			}
			return Restart, component, true
		}
	}
	return "", "", false
}

// controlPlane reports whether it is the configuration of a control plane.
func (c *Config) controlPlane() bool {
	d := c.find(ID{})
	return d != nil && textAt(d.root, "machine", "type") != "worker"
}
