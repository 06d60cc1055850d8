package apply

import (
	"context"
	"io"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/snapshot"
	"github.com/talosgen/talosgen/internal/diag"
)

// Keep writes a file of a name that is given, and returns where it is. If write
// fails there is no file.
type Keep func(name string, write func(io.Writer) error) (where string, err error)

// saveEtcd keeps a snapshot of etcd, encrypted for the operators, before a
// member goes for good.
func (s *Session) saveEtcd(ctx context.Context, from *node.Client) (where string, err error) {
	if s.nodes.Keep == nil {
		return "", diag.On("etcd", "there is no place for its snapshot").WithCode(diag.Usage)
	}
	name := snapshot.FileName(s.env.Infrastructure.Cluster, s.clock.Now())
	return s.nodes.Keep(name, func(file io.Writer) error {
		encrypted, _, err := s.env.keys.EncryptStream(file, s.env.recipients)
		if err != nil {
			return err
		}
		_, err = snapshot.Take(func(to io.Writer) error { return from.Snapshot(ctx, to) }, encrypted)
		return err
	})
}
