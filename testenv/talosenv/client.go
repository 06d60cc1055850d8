//go:build linux

package talosenv

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// Client is the real talosctl, with the rights of an administrator.
type Client struct {
	program string
	config  string // file
	enter   []string
	proxy   string // URL; empty: none
}

// clientValid is how long a client's certificate is valid.
const clientValid = time.Hour

// NewClient signs a client certificate with the authority in the machine
// configuration of a control plane, and returns a client that has it.
func (c *Cluster) NewClient(t testing.TB, machineConfig []byte) *Client {
	t.Helper()

	config, err := talosconfig(machineConfig, time.Now())
	if err != nil {
		t.Fatal(err)
	}

	client := &Client{program: toolenv.Talosctl(t, c.bed.release), config: filepath.Join(t.TempDir(), "talosconfig"), enter: c.network.enter()}
	if err := os.WriteFile(client.config, config, 0o600); err != nil {
		t.Fatal(err)
	}

	return client
}

// ClientOf is a client with a talosconfig that something else has written.
func (c *Cluster) ClientOf(t testing.TB, file string) *Client {
	t.Helper()

	return &Client{program: toolenv.Talosctl(t, c.bed.release), config: file, enter: c.network.enter()}
}

// Run runs talosctl against one node and returns what it prints.
func (c *Client) Run(ctx context.Context, n *Node, args ...string) (string, error) {
	args = append([]string{"--talosconfig", c.config, "--endpoints", n.Address.String(), "--nodes", n.Address.String()}, args...)
	return talosctl(ctx, c.enter, c.program, c.proxy, args...)
}

// through is the client where it reaches nodes by way of a proxy.
func (c *Client) through(s *Swaps) *Client {
	proxied := *c
	proxied.enter, proxied.proxy = nil, s.URL()

	return &proxied
}

// Insecure runs talosctl against a node in maintenance mode.
func (c *Cluster) Insecure(ctx context.Context, t testing.TB, n *Node, args ...string) (string, error) {
	t.Helper()

	args = append(args, "--insecure", "--nodes", n.Address.String())

	return talosctl(ctx, c.network.enter(), toolenv.Talosctl(t, c.bed.release), "", args...)
}

// talosctl runs in the nodes' network, which this machine may not reach, or goes there
// through a proxy.
func talosctl(ctx context.Context, enter []string, program, proxy string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer

	args = slices.Concat(enter, []string{program}, args)
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Stdout, command.Stderr = &stdout, &stderr
	command.Env = []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH"), "HTTPS_PROXY=" + proxy}

	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("talosctl: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}

	return stdout.String(), nil
}

// authority is the certificate authority of the Talos API, in base64.
type authority struct {
	Certificate string `yaml:"crt"`
	Key         string `yaml:"key"`
}

// talosconfig makes the configuration of a client that a cluster accepts.
func talosconfig(machineConfig []byte, now time.Time) ([]byte, error) {
	by, err := authorityIn(machineConfig)
	if err != nil {
		return nil, err
	}

	certificate, key, err := by.sign(administrator(now))
	if err != nil {
		return nil, err
	}

	return yaml.Marshal(map[string]any{
		"context": "test",
		"contexts": map[string]any{"test": map[string]any{
			"ca":  by.Certificate,
			"crt": base64.StdEncoding.EncodeToString(certificate),
			"key": base64.StdEncoding.EncodeToString(key),
		}},
	})
}

// authorityIn is the one in the machine configuration of a control plane.
func authorityIn(machineConfig []byte) (authority, error) {
	var config struct {
		Machine struct {
			CA authority `yaml:"ca"`
		} `yaml:"machine"`
	}

	// The first document is the one with the authority.
	if err := yaml.NewDecoder(bytes.NewReader(machineConfig)).Decode(&config); err != nil {
		return authority{}, errors.New("the machine configuration is not YAML")
	}

	return config.Machine.CA, nil
}

func (a authority) certificate() (*x509.Certificate, error) {
	ca, err := decodePEM(a.Certificate)
	if err != nil {
		return nil, fmt.Errorf("the authority's certificate: %w", err)
	}

	return x509.ParseCertificate(ca)
}

// administrator is a client's certificate that is not signed yet.
func administrator(now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{Organization: []string{"os:admin"}},
		NotBefore:    now.Add(-time.Minute),
		NotAfter:     now.Add(clientValid),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

// sign makes a key and a certificate for it, both PEM.
func (a authority) sign(template *x509.Certificate) (certificate, key []byte, err error) {
	parent, err := a.certificate()
	if err != nil {
		return nil, nil, err
	}

	signer, err := decodePEM(a.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("the authority's key: %w", err)
	}

	parentKey, err := x509.ParsePKCS8PrivateKey(signer)
	if err != nil {
		return nil, nil, errors.New("the authority's key is not PKCS #8")
	}

	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}

	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, parentKey)
	if err != nil {
		return nil, nil, err
	}

	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}

	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	// The name of the block is the one that Talos' own library looks for.
	key = pem.EncodeToMemory(&pem.Block{Type: "ED25519 PRIVATE KEY", Bytes: keyDER})

	return certificate, key, nil
}

// decodePEM returns what is in the first block of PEM in base64. What it gets
// may be secret, so its errors say nothing of it.
func decodePEM(text string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("not base64")
	}

	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("not PEM")
	}

	return block.Bytes, nil
}
