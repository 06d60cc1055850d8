package apply

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/access"
	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
)

const (
	// clientLifetime is how long the certificate is valid that nodes are talked
	// to with. Another one is signed when two thirds of it are over.
	clientLifetime = time.Hour
	// adminLifetime is how long the certificate is valid that Kubernetes is talked
	// to with. A client keeps the one that it begins with, so that one is given to
	// clients for adminFresh only.
	adminLifetime = 20 * time.Minute
	adminFresh    = 5 * time.Minute
)

// signer signs the certificates of a run with the authorities in the tree.
type signer struct {
	env    *Environment
	clock  cloud.Clock
	random io.Reader

	mu    sync.Mutex
	talos node.Credentials
	renew time.Time
	admin kube.Options // the authority, the certificate and its key
	stale time.Time
}

// nodes signs an administrator of Talos, and again before that expires.
func (s *signer) nodes(ctx context.Context) (node.Credentials, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if now.Before(s.renew) {
		return s.talos, nil
	}
	authorities, err := s.env.authorities(ctx)
	if err != nil {
		return node.Credentials{}, err
	}
	id, err := authorities.Talos.Sign(access.Subject{Groups: []string{access.RoleAdmin}}, access.Ed25519, clientLifetime, now, s.random)
	if err != nil {
		return node.Credentials{}, err
	}
	s.env.masker.Add(id.Key)
	s.talos = node.Credentials{Authority: authorities.Talos.PEM(), Certificate: id.Certificate, Key: id.Key}
	s.renew = now.Add(id.Expires.Sub(now) * 2 / 3)
	return s.talos, nil
}

// kubernetes signs an administrator of Kubernetes, and adds it to options. Clients
// that are made soon after one another share a certificate: to sign one, the
// authority is decrypted.
func (s *signer) kubernetes(ctx context.Context, o kube.Options) (kube.Options, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.clock.Now(); !now.Before(s.stale) {
		authorities, err := s.env.authorities(ctx)
		if err != nil {
			return o, err
		}
		id, err := authorities.Kubernetes.Admin(adminLifetime, now, s.random)
		if err != nil {
			return o, fmt.Errorf("sign a certificate for the Kubernetes API: %w", err)
		}
		s.env.masker.Add(id.Key)
		s.admin = kube.Options{Authority: authorities.Kubernetes.PEM(), Certificate: id.Certificate, Key: id.Key}
		s.stale = now.Add(adminFresh)
	}
	o.Authority, o.Certificate, o.Key = s.admin.Authority, s.admin.Certificate, s.admin.Key
	return o, nil
}
