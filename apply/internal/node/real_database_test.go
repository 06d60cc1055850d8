//go:build linux

package node_test

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/internal/access"
	"github.com/talosgen/talosgen/internal/secret"
)

// etcd is a client of etcd itself, by its JSON interface: what Talos shows of it
// says nothing of what is in it.
type etcd struct {
	t    *testing.T
	http *http.Client
}

// newEtcd signs a client certificate with etcd's authority, in the configuration
// of a control plane before Talos 1.14.
func newEtcd(t *testing.T, config secret.String) *etcd {
	t.Helper()
	var c struct {
		Cluster struct {
			Etcd struct {
				CA map[string]string `yaml:"ca"`
			} `yaml:"etcd"`
		} `yaml:"cluster"`
	}
	if err := yaml.NewDecoder(bytes.NewReader([]byte(config.Reveal()))).Decode(&c); err != nil {
		t.Fatal("the configuration is not YAML")
	}
	// As if it was that of the Talos API.
	ca := map[string]any{"ca": c.Cluster.Etcd.CA}
	text, err := yaml.Marshal(map[string]any{"machine": ca, "cluster": ca})
	if err != nil {
		t.Fatal(err)
	}
	authorities, err := access.Read("etcd", text)
	if err != nil {
		t.Fatal(err)
	}
	id, err := authorities.Talos.Sign(access.Subject{User: "test"}, access.ECDSA, time.Hour, time.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(id.Certificate, []byte(id.Key.Reveal()))
	if err != nil {
		t.Fatal("the key does not fit the certificate")
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authorities.Talos.PEM())
	return &etcd{t: t, http: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
	}}}
}

// keyValue is a pair, in base64 as etcd wants it.
type keyValue struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value,omitempty"`
}

func (e *etcd) put(at netip.Addr, key, value string) {
	e.t.Helper()
	e.call(at, "put", keyValue{[]byte(key), []byte(value)}, &struct{}{})
}

// get returns the value of a key; empty if there is none.
func (e *etcd) get(at netip.Addr, key string) string {
	e.t.Helper()
	var found struct {
		KVs []keyValue `json:"kvs"`
	}
	e.call(at, "range", keyValue{Key: []byte(key)}, &found)
	if len(found.KVs) == 0 {
		return ""
	}
	return string(found.KVs[0].Value)
}

func (e *etcd) call(at netip.Addr, what string, request, response any) {
	e.t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		e.t.Fatal(err)
	}
	answer, err := e.http.Post("https://"+at.String()+":2379/v3/kv/"+what, "application/json", bytes.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		e.t.Fatalf("etcd: %s: %s", what, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(response); err != nil {
		e.t.Fatal(err)
	}
}
