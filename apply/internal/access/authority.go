package access

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Authority is a certificate authority with its private key. It prints neither.
type Authority struct {
	name        string // for messages: the Talos API, the Kubernetes API
	where       string // the file that it was read from
	certificate *x509.Certificate
	pem         []byte // the certificate as it stands in the configuration
	key         crypto.Signer
	accepted    [][]byte // PEM of the other authorities that the cluster trusts, in a rotation
}

// Certificate is that of the authority, which is public.
func (a *Authority) Certificate() *x509.Certificate { return a.certificate }

// PEM returns the certificates, which are public, of those that a server of the
// cluster may be certified by: this authority, and in a rotation the other one.
func (a *Authority) PEM() []byte {
	all := bytes.Clone(a.pem)
	for _, other := range a.accepted {
		all = append(append(bytes.TrimRight(all, "\n"), '\n'), other...)
	}
	return all
}

// Certified reports whether a server's certificate is of the authority, or of one
// that the cluster trusts as well.
func (a *Authority) Certified(leaf *x509.Certificate) bool {
	for rest := a.PEM(); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return false
		}
		if ca, err := x509.ParseCertificate(block.Bytes); err == nil && leaf.CheckSignatureFrom(ca) == nil {
			return true
		}
	}
}

// String names the authority.
func (a *Authority) String() string { return "the certificate authority of " + a.name }

// GoString is String.
func (a *Authority) GoString() string { return a.String() }

// Authorities are those of a cluster.
type Authorities struct {
	Talos      *Authority // signs the clients of the Talos API
	Kubernetes *Authority // signs the clients of the Kubernetes API
	tokenKeys  bool       // service accounts have more than one key
	secretKeys bool       // and so have Secrets in etcd
}

// pair is a certificate and its key: crt and key are PEM in base64, as Talos
// has always had them; its documents of version 1.14 have plain PEM, and call
// the certificate cert.
type pair struct {
	Crt  string `yaml:"crt"`
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// document is what a document of a machine configuration may say about
// authorities.
type document struct {
	Kind    string `yaml:"kind"`
	Machine struct {
		CA       pair   `yaml:"ca"`
		Accepted []pair `yaml:"acceptedCAs"`
	} `yaml:"machine"`
	Cluster struct {
		CA       pair   `yaml:"ca"`
		Accepted []pair `yaml:"acceptedCAs"`
	} `yaml:"cluster"`
	IssuingCA pair      `yaml:"issuingCA"`
	Accepted  yaml.Node `yaml:"acceptedCAs"` // a list of text, of this kind
	Tokens    struct {
		Keys []string `yaml:"publicKeys"`
	} `yaml:"accepted"`
	Config yaml.Node `yaml:"config"`
}

// trust is an authority that signs, and the certificates of those that are trusted
// besides.
type trust struct {
	issuing  pair
	accepted []string
	field    string // of those, for messages
}

// kubernetesKind is the document that holds the authority of the Kubernetes API
// since Talos 1.14; before that it is cluster.ca.
const kubernetesKind = "KubeAPIServerCAConfig"

// Read finds the authorities in the machine configuration of a control plane,
// in the clear. file is its place, for messages, which never quote it.
func Read(file string, config []byte) (*Authorities, error) {
	found := &Authorities{}
	talos, kubernetes, err := findPairs(config, found)
	if err != nil {
		return nil, diag.New(diag.Pos{File: file}, "is no machine configuration").WithCode(diag.Secrets)
	}
	var problems diag.List
	found.Talos, err = talos.parse(file, "the Talos API")
	problems.AddErr(err)
	found.Kubernetes, err = kubernetes.parse(file, "the Kubernetes API")
	problems.AddErr(err)
	return found, problems.Err()
}

func findPairs(config []byte, found *Authorities) (talos, kubernetes trust, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(config))
	for {
		var d document
		switch err := dec.Decode(&d); {
		case errors.Is(err, io.EOF):
			return talos, kubernetes, nil
		case err != nil:
			return trust{}, trust{}, err
		}
		switch d.Kind {
		case "":
			talos = trust{d.Machine.CA, certificates(d.Machine.Accepted), "machine.acceptedCAs"}
			if d.Cluster.CA != (pair{}) {
				kubernetes = trust{d.Cluster.CA, certificates(d.Cluster.Accepted), "cluster.acceptedCAs"}
			}
		case "KubeServiceAccountConfig":
			found.tokenKeys = len(d.Tokens.Keys) > 0
		case "KubeEtcdEncryptionConfig":
			found.secretKeys = encryptionKeys(&d.Config) > 1
		case kubernetesKind:
			kubernetes = trust{pair{Crt: d.IssuingCA.Cert, Key: d.IssuingCA.Key}, nil, kubernetesKind + ".acceptedCAs"}
			if d.Accepted.Kind != 0 && d.Accepted.Decode(&kubernetes.accepted) != nil {
				return trust{}, trust{}, errors.New("acceptedCAs is not a list of text")
			}
		}
	}
}

func certificates(pairs []pair) (texts []string) {
	for _, p := range pairs {
		texts = append(texts, p.Crt)
	}
	return texts
}

// parse reads the authority, and those that are trusted besides.
func (t trust) parse(file, name string) (*Authority, error) {
	a, err := t.issuing.parse(file, name)
	if err != nil {
		return nil, err
	}
	var problems diag.List
	for _, other := range t.accepted {
		text, _, err := parseCertificate(other)
		if err != nil {
			problems.AddErr(a.problem("is to be trusted beside another one (%s) whose certificate cannot be read", t.field))
			continue
		}
		a.accepted = append(a.accepted, text)
	}
	return a, problems.Err()
}

// parse checks that both halves are there and belong together.
func (p pair) parse(file, name string) (*Authority, error) {
	a := &Authority{name: name, where: file}
	if p.Crt == "" || p.Key == "" {
		return nil, a.problem("is not in it, or without its key").
			WithHint("only the configuration of a control plane holds it: render the environment again")
	}
	var err error
	if a.pem, a.certificate, err = parseCertificate(p.Crt); err != nil {
		return nil, a.problem("has a certificate that cannot be read")
	}
	if a.key, err = parseKey(p.Key); err != nil {
		return nil, a.problem("has a key that cannot be read")
	}
	if !samePublicKey(a.key, a.certificate) {
		return nil, a.problem("has a key that does not belong to its certificate").
			WithHint("the secrets of the environment are mixed up; compare them with an older commit")
	}
	return a, nil
}

func (a *Authority) problem(format string, args ...any) *diag.Problem {
	return diag.New(diag.Pos{File: a.where}, a.String()+" "+format, args...).WithCode(diag.Secrets)
}

// parseCertificate also returns the PEM.
func parseCertificate(text string) ([]byte, *x509.Certificate, error) {
	data, block, err := decodePEM(text)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	return data, certificate, err
}

// decodePEM reads PEM, plain or in base64. Its errors say nothing of what it
// reads.
func decodePEM(text string) ([]byte, *pem.Block, error) {
	data := []byte(text)
	if !bytes.Contains(data, []byte("-----BEGIN ")) {
		var err error
		if data, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, nil, err
		}
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, nil, errors.New("not PEM")
	}
	return data, block, nil
}

// parseKey reads any of the forms that keys of authorities have had: PKCS #8,
// also under names of Talos' own, SEC 1 and PKCS #1.
func parseKey(text string) (crypto.Signer, error) {
	_, block, err := decodePEM(text)
	if err != nil {
		return nil, err
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		if signer, ok := key.(crypto.Signer); ok {
			return signer, nil
		}
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	return x509.ParsePKCS1PrivateKey(block.Bytes)
}

func samePublicKey(key crypto.Signer, certificate *x509.Certificate) bool {
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(certificate.PublicKey)
}
