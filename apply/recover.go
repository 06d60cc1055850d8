package apply

import (
	"bufio"
	"context"
	"io"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/snapshot"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
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
// etcd, or etcd was made from this snapshot by a run that did not come to its
// end. Without a snapshot there is nothing to check.
func (s *Session) CheckRecovery(ctx context.Context, p *Plan) error {
	r := s.nodes.Recovery
	if r == nil {
		return nil
	}
	id, err := s.recovery().ID(ctx)
	if err != nil {
		return err
	}
	does := func(a nodeplan.Action) bool {
		return p.Nodes != nil && slices.ContainsFunc(p.Nodes.Steps, func(st Step) bool { return st.Action == a })
	}
	if does(nodeplan.Bootstrap) {
		return nil
	}
	if does(nodeplan.Record) {
		if intent, err := s.intents.Intent(ctx); err != nil || intent.Snapshot == id {
			return err
		}
		return diag.On(r.File, "etcd serves already; the snapshot would be ignored").WithHint("%s", insteadOfRecovery).WithCode(diag.Usage)
	}
	return diag.On(r.File, "there is no etcd to recover: the plan does not bootstrap one").
		WithHint("%s", insteadOfRecovery).WithCode(diag.Usage)
}

// insteadOfRecovery is what to do where there is no use for a snapshot.
const insteadOfRecovery = "etcd lives, or nobody knows: see talosgen etcd status;\n" +
	"to go back to the snapshot nevertheless, first reset every control plane: talosgen reset"

// recovery is the snapshot to recover from; nil if there is none.
func (s *Session) recovery() nodes.Recovery {
	if s.nodes.Recovery == nil {
		return nil
	}
	return recovery{s}
}

// recovery is the snapshot of a session.
type recovery struct{ *Session }

// ID reads the snapshot as a whole, once, and makes sure that it is whole.
func (r recovery) ID(ctx context.Context) (string, error) {
	if r.snapshot != "" {
		return r.snapshot, nil
	}
	err := r.readSnapshot(ctx, *r.nodes.Recovery, func(from io.Reader) error {
		info, err := snapshot.Verify(from)
		r.snapshot = info.ID()
		return err
	})
	return r.snapshot, err
}

// Upload brings it to a node. What is uploaded is what was checked.
func (r recovery) Upload(ctx context.Context, to *node.Client) error {
	want, err := r.ID(ctx)
	if err != nil {
		return err
	}
	return r.readSnapshot(ctx, *r.nodes.Recovery, func(from io.Reader) error {
		v := snapshot.NewVerifier()
		if err := to.Upload(ctx, io.TeeReader(from, v)); err != nil {
			return err
		}
		if info, err := v.Finish(); err != nil || info.ID() != want {
			return diag.On(r.nodes.Recovery.File, "it has changed since it was checked").WithCode(diag.Conflict).WithCause(err)
		}
		return nil
	})
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
