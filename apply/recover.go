package apply

import (
	"bufio"
	"context"
	"io"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/snapshot"
	"github.com/talosgen/talosgen/apply/nodeplan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// Recovery is a snapshot from which a lost etcd is made anew.
type Recovery struct {
	// The name of its file, for messages.
	File string
	// Opens it, each time from its beginning. It may be encrypted with age.
	Open func() (io.ReadCloser, error)
}

// CheckRecovery makes sure that the snapshot can be decrypted and is whole, and
// that the plan has use for it: every control plane has to prove that it has no
// etcd. Without a snapshot there is nothing to check.
func (s *Session) CheckRecovery(ctx context.Context, p *Plan) error {
	r := s.nodes.Recovery
	if r == nil {
		return nil
	}
	bootstraps := p.Nodes != nil && slices.ContainsFunc(p.Nodes.Steps, func(st Step) bool { return st.Action == nodeplan.Bootstrap })
	if !bootstraps {
		return diag.On(r.File, "there is no etcd to recover: the plan does not bootstrap one").
			WithHint("etcd lives, or nobody knows: see talosgen etcd status;\nto go back to the snapshot nevertheless, first reset every control plane: talosgen reset").
			WithCode(diag.Usage)
	}
	return s.readSnapshot(ctx, *r, func(from io.Reader) error {
		_, err := snapshot.Verify(from)
		return err
	})
}

// recovery brings the snapshot to a node; nil if there is none to recover from.
func (s *Session) recovery() func(context.Context, *node.Client) error {
	r := s.nodes.Recovery
	if r == nil {
		return nil
	}
	return func(ctx context.Context, to *node.Client) error {
		return s.readSnapshot(ctx, *r, func(from io.Reader) error { return to.Upload(ctx, from) })
	}
}

// readSnapshot reads a snapshot in the clear, as a stream: it is nowhere as a
// whole.
func (s *Session) readSnapshot(ctx context.Context, r Recovery, read func(io.Reader) error) error {
	file, err := r.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	content := bufio.NewReader(file)
	head, err := content.Peek(sopsage.StreamHead)
	if err != nil {
		return diag.New(diag.Pos{File: r.File}, "is no snapshot of etcd: %v", err).WithCause(err)
	}
	if !sopsage.IsEncryptedStream(head) {
		return read(content)
	}
	plain, err := s.env.keys.DecryptStream(ctx, r.File, content, s.env.recipients)
	if err != nil {
		return err
	}
	return read(plain)
}
