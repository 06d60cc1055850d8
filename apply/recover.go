package apply

import (
	"bufio"
	"context"
	"io"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/snapshot"
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

// insteadOfRecovery is what to do where there is no use for a snapshot.
const insteadOfRecovery = "etcd runs, or its state is unknown: see talosgen etcd status;\n" +
	"to go back to the snapshot nevertheless, first reset every control plane: talosgen reset"

// recovery is the snapshot that a session recovers from.
type recovery struct {
	env  *Environment
	from Recovery
	id   string // once it was read
}

// ID reads the snapshot as a whole, once, and makes sure that it is whole.
func (r *recovery) ID(ctx context.Context) (string, error) {
	if r.id != "" {
		return r.id, nil
	}
	err := r.read(ctx, func(from io.Reader) error {
		info, err := snapshot.Verify(from)
		r.id = info.ID()
		return err
	})
	return r.id, err
}

// Upload brings it to a node. What is uploaded is what was checked.
func (r *recovery) Upload(ctx context.Context, to *node.Client) error {
	want, err := r.ID(ctx)
	if err != nil {
		return err
	}
	return r.read(ctx, func(from io.Reader) error {
		v := snapshot.NewVerifier()
		if err := to.Upload(ctx, io.TeeReader(from, v)); err != nil {
			return err
		}
		if info, err := v.Finish(); err != nil || info.ID() != want {
			return diag.On(r.from.File, "it has changed since it was checked").WithCode(diag.Conflict).WithCause(err)
		}
		return nil
	})
}

// read reads the snapshot in the clear, as a stream: it is nowhere as a whole.
func (r *recovery) read(ctx context.Context, read func(io.Reader) error) error {
	file, err := r.from.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	content := bufio.NewReader(file)
	head, err := content.Peek(sopsage.StreamHead)
	if err != nil {
		return diag.New(diag.Pos{File: r.from.File}, "is no snapshot of etcd: %v", err).WithCause(err)
	}
	if !sopsage.IsEncryptedStream(head) {
		return read(content)
	}
	plain, err := r.env.keys.DecryptStream(ctx, r.from.File, content, r.env.recipients)
	if err != nil {
		return err
	}
	return read(plain)
}
