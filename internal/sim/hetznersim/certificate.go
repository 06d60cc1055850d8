package hetznersim

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// certificate is one for load balancers: uploaded, or made by Hetzner.
type certificate struct {
	common
	Type          string
	PEM           string // empty until it is issued
	Domains       []string
	Before, After time.Time // its validity
	Fingerprint   string
}

const kindCertificate = "certificate"

// Limits of what is uploaded, in bytes.
const (
	maxKeyPEM   = 5 << 10
	maxChainPEM = 30 << 10
)

func (k *certificate) ref() ref { return ref{k.ID, kindCertificate} }

type certificateView struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Type        string            `json:"type"`
	PEM         *string           `json:"certificate"`
	Created     time.Time         `json:"created"`
	Before      *time.Time        `json:"not_valid_before"`
	After       *time.Time        `json:"not_valid_after"`
	Domains     []string          `json:"domain_names"`
	Fingerprint *string           `json:"fingerprint"`
	Status      obj               `json:"status"`
	UsedBy      []ref             `json:"used_by"`
}

func (st *state) viewCertificate(k *certificate) certificateView {
	v := certificateView{ID: k.ID, Name: k.Name, Labels: filled(k.Labels), Type: k.Type, Created: k.Created,
		Domains: some(k.Domains), UsedBy: []ref{}}
	if k.PEM != "" {
		v.PEM, v.Before, v.After, v.Fingerprint = &k.PEM, &k.Before, &k.After, &k.Fingerprint
	}
	if k.Type == "managed" {
		v.Status = obj{"issuance": "completed", "renewal": "scheduled", "error": nil}
		if k.PEM == "" {
			v.Status["issuance"], v.Status["renewal"] = "pending", "unavailable"
		}
	}
	for _, b := range st.balancers.rows {
		uses := func(s service) bool { return s.HTTP != nil && slices.Contains(s.HTTP.Certificates, k.ID) }
		if slices.ContainsFunc(b.Services, uses) {
			v.UsedBy = append(v.UsedBy, b.ref())
		}
	}
	return v
}

func certificateRoutes() []route {
	const one = "/certificates/{id}"
	return []route{
		{http.MethodGet, "/certificates", listCertificates},
		{http.MethodPost, "/certificates", createCertificate},
		{http.MethodGet, one, onCertificate(func(c *call, k *certificate) (reply, error) {
			return ok(obj{kindCertificate: c.st.viewCertificate(k)})
		})},
		{http.MethodPut, one, onCertificate(updateCertificate)},
		{http.MethodDelete, one, onCertificate(deleteCertificate)},
		{http.MethodPost, one + "/actions/retry", onCertificate(retryCertificate)},
	}
}

func onCertificate(do func(*call, *certificate) (reply, error)) handler {
	return on(kindCertificate, func(st *state) *table[certificate, *certificate] { return &st.certificates }, do)
}

func listCertificates(c *call) (reply, error) {
	l := rowsOf("certificates", &c.st.certificates, func(k *certificate) any { return c.st.viewCertificate(k) })
	if types := c.query["type"]; len(types) > 0 {
		l = l.only(func(k *certificate) bool { return slices.Contains(types, k.Type) })
	}
	return l.answer(c)
}

func createCertificate(c *call) (reply, error) {
	in, err := decode[struct {
		Name    string            `json:"name"`
		Labels  map[string]string `json:"labels"`
		Type    string            `json:"type"`
		PEM     string            `json:"certificate"`
		Key     string            `json:"private_key"`
		Domains []string          `json:"domain_names"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	managed := in.Type == "managed"
	v.check(managed || in.Type == "" || in.Type == "uploaded", "type", "Must be one of: uploaded, managed.")
	v.check(!managed || len(in.Domains) > 0, "domain_names", missing)
	v.check(managed || len(in.Key) > 0 && len(in.Key) <= maxKeyPEM, "private_key", "Length must be between 1 and %d.", maxKeyPEM)
	v.check(managed || len(in.PEM) > 0 && len(in.PEM) <= maxChainPEM, "certificate", "Length must be between 1 and %d.", maxChainPEM)
	if err := named(&v, kindCertificate, &c.st.certificates, in.Name, in.Labels); err != nil {
		return reply{}, err
	}
	k := &certificate{common: c.fresh(in.Name, in.Labels), Type: "uploaded", Domains: in.Domains}
	if managed {
		k.Type = "managed"
		c.st.certificates.put(k)
		a := c.begin(job{command: "create_certificate", on: []ref{k.ref()}, finish: issue(k.ID),
			undo: func(st *state, _ time.Time) { st.certificates.drop(k.ID) }})
		return created(obj{kindCertificate: c.st.viewCertificate(k), "action": a.view(c.now)})
	}
	if err := k.load(in.PEM, in.Key); err != nil {
		return reply{}, err
	}
	c.st.certificates.put(k)
	return created(obj{kindCertificate: c.st.viewCertificate(k), "action": nil})
}

// load reads a certificate and its key.
func (k *certificate) load(certificate, key string) error {
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	if err != nil {
		return badField("certificate", "The certificate and the key are no pair.")
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return badField("certificate", "Not a certificate.")
	}
	k.PEM, k.Domains, k.Before, k.After = certificate, leaf.DNSNames, leaf.NotBefore, leaf.NotAfter
	k.Fingerprint = colons(leaf.Raw)
	return nil
}

func colons(der []byte) string {
	var parts []string
	for _, b := range sha256.Sum256(der) {
		parts = append(parts, fmt.Sprintf("%02X", b))
	}
	return strings.Join(parts, ":")
}

// managedValidity is that of Let's Encrypt.
const managedValidity = 90 * 24 * time.Hour

// issue is what the end of issuance does. The certificate is a text that says
// that it is none.
func issue(id int64) effect {
	return func(st *state, now time.Time) {
		st.certificates.change(id, func(k *certificate) {
			k.PEM, k.Before, k.After = "simulated certificate", now, now.Add(managedValidity)
			k.Fingerprint = colons([]byte(k.Name))
		})
	}
}

func updateCertificate(c *call, k *certificate) (reply, error) {
	in, err := decode[update](c)
	if err != nil {
		return reply{}, err
	}
	if k, err = apply(in, kindCertificate, &c.st.certificates, k); err != nil {
		return reply{}, err
	}
	return ok(obj{kindCertificate: c.st.viewCertificate(k)})
}

// retryCertificate is for issuance and renewal that failed, which they never do
// here.
func retryCertificate(*call, *certificate) (reply, error) {
	return reply{}, fail("unsupported_error", "certificate not retryable")
}

func deleteCertificate(c *call, k *certificate) (reply, error) {
	if len(c.st.viewCertificate(k).UsedBy) > 0 {
		return reply{}, fail("service_error", "certificate is still in use")
	}
	if err := c.lock(k.ref()); err != nil {
		return reply{}, err
	}
	c.st.certificates.drop(k.ID)
	return noContent()
}
