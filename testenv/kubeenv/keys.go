package kubeenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// lifetime of all certificates, which is longer than any test.
const lifetime = 24 * time.Hour

// keys are the certificate authority of a cluster, which lives as long as it.
type keys struct {
	dir         string // where the files for the programs are
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	authority   []byte // PEM of the certificate
}

// pair is a certificate with its key, in PEM.
type pair struct{ certificate, key []byte }

// newKeys makes the authority, the server's certificate and the key that signs
// the tokens of service accounts, and writes them to dir.
func newKeys(dir string) (*keys, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}

	template := certificate(pkix.Name{CommonName: "kubeenv"})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature

	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}

	k := &keys{dir: dir, key: key, authority: encode("CERTIFICATE", der)}

	if k.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}

	return k, k.writeFiles()
}

// writeFiles writes what the programs read.
func (k *keys) writeFiles() error {
	server := certificate(pkix.Name{CommonName: "kube-apiserver"})
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(serviceAddress)}
	server.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}

	serving, err := k.sign(server)
	if err != nil {
		return err
	}

	tokens, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}

	tokenKey, err := encodeKey(tokens)
	if err != nil {
		return err
	}

	tokenPublic, err := x509.MarshalPKIXPublicKey(tokens.Public())
	if err != nil {
		return err
	}

	authorityKey, err := encodeKey(k.key)

	return errors.Join(err, os.Mkdir(k.dir, 0o700),
		k.write("ca.crt", k.authority), k.write("ca.key", authorityKey),
		k.write("server.crt", serving.certificate), k.write("server.key", serving.key),
		k.write("tokens.key", tokenKey), k.write("tokens.pub", encode("PUBLIC KEY", tokenPublic)))
}

func (k *keys) write(name string, data []byte) error { return os.WriteFile(k.file(name), data, 0o600) }

// file is the name of one of the files.
func (k *keys) file(name string) string { return filepath.Join(k.dir, name) }

// client makes a certificate for a user of the API.
func (k *keys) client(user string, groups ...string) (pair, error) {
	template := certificate(pkix.Name{CommonName: user, Organization: groups})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}

	return k.sign(template)
}

// sign makes a key and a certificate for it.
func (k *keys) sign(template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}

	der, err := x509.CreateCertificate(rand.Reader, template, k.certificate, key.Public(), k.key)
	if err != nil {
		return pair{}, err
	}

	text, err := encodeKey(key)

	return pair{certificate: encode("CERTIFICATE", der), key: text}, err
}

// writeKubeconfig writes a kubeconfig for a user, and returns its name. It is
// JSON, which is YAML too.
func (k *keys) writeKubeconfig(server string, user pair, name string) (string, error) {
	const context = "kubeenv"

	type object = map[string]any

	data, err := json.MarshalIndent(object{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": context,
		"clusters": []object{{"name": context, "cluster": object{
			"server": server, "certificate-authority-data": k.authority,
		}}},
		"users": []object{{"name": context, "user": object{
			"client-certificate-data": user.certificate, "client-key-data": user.key,
		}}},
		"contexts": []object{{"name": context, "context": object{"cluster": context, "user": context}}},
	}, "", "  ")
	if err != nil {
		return "", err
	}

	return k.file(name), k.write(name, data)
}

// tls is the configuration of a connection to the API server as a user.
func (k *keys) tls(user pair) (*tls.Config, error) {
	own, err := tls.X509KeyPair(user.certificate, user.key)
	roots := x509.NewCertPool()
	roots.AddCert(k.certificate)

	return &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: roots, MinVersion: tls.VersionTLS12}, err
}

// certificate is what all certificates have in common.
func certificate(subject pkix.Name) *x509.Certificate {
	now := time.Now()

	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)

	return encode("PRIVATE KEY", der), err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Authority returns the certificate of the cluster's authority, which signs
// servers and clients, and its key, in PEM.
func (c *Cluster) Authority(t testing.TB) (certificate, key []byte) {
	t.Helper()

	key, err := encodeKey(c.keys.key)
	if err != nil {
		t.Fatal(err)
	}

	return c.keys.authority, key
}

// Certificate returns a certificate for a user of the API, signed by the
// cluster's authority, and its key, in PEM. It is valid from a day before its end.
func (c *Cluster) Certificate(t testing.TB, until time.Time, user string, groups ...string) (cert, key []byte) {
	t.Helper()

	template := certificate(pkix.Name{CommonName: user, Organization: groups})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	template.NotBefore, template.NotAfter = until.Add(-lifetime), until

	signed, err := c.keys.sign(template)
	if err != nil {
		t.Fatal(err)
	}

	return signed.certificate, signed.key
}
