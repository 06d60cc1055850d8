package kube

import (
	"context"
	"net/http"
	"time"
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

// ServerExpires is until when the certificate is valid that the API showed last;
// zero if there was no connection yet.
func (c *Client) ServerExpires() time.Time {
	if expires := c.expires.Load(); expires != 0 {
		return time.Unix(expires, 0)
	}
	return time.Time{}
}
