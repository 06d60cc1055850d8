package kube

import (
	"context"
	"crypto/x509"
	"net/http"
)

// Alive asks, once, whether the API serves requests. Everything that it needs
// for that is there then: etcd, the objects of its own, its rules.
func (c *Client) Alive(ctx context.Context) error {
	return c.once(ctx, request{method: http.MethodGet, path: namespaces.path("", "kube-system")}, nil, &struct{}{})
}

// Version asks for the version of the API, such as v1.36.4.
func (c *Client) Version(ctx context.Context) (string, error) {
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	err := c.do(ctx, http.MethodGet, "/version", nil, &version)
	return version.GitVersion, err
}

// ServerCertificate is the certificate that the API showed last; nil if there was
// no connection yet.
func (c *Client) ServerCertificate() *x509.Certificate { return c.shown.Load() }
