package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/rehearsal"
	"github.com/talosgen/talosgen/internal/diag"
)

// observedFile keeps observed clusters in files, encrypted for the operators as
// snapshots of etcd are.
type observedFile struct {
	env  *Environment
	file rehearsal.File
}

// write writes what was observed, if it is to be kept.
func (f observedFile) write(o *rehearsal.Observed) error {
	if f.file.To == nil {
		return nil
	}
	encrypted, _, err := f.env.keys.EncryptStream(f.file.To, f.env.recipients)
	if err != nil {
		return err
	}
	if err := o.Encode(encrypted); err != nil {
		return err
	}
	return encrypted.Close()
}

// read reads what was observed of the environment. It is authentic only to its end.
func (f observedFile) read(ctx context.Context) (*rehearsal.Observed, error) {
	plain, err := f.env.keys.DecryptStream(ctx, f.file.Name, f.file.From, f.env.recipients)
	if err != nil {
		return nil, err
	}
	at := diag.Pos{File: f.file.Name}
	o, err := rehearsal.Decode(plain)
	if err != nil {
		return nil, diag.New(at, "cannot be read: %v", err).WithHint("`talosgen rehearse %s --save` writes such a file", f.env.name).WithCause(err)
	}
	if o.Environment != f.env.name || o.Cluster != f.env.Infrastructure.Cluster {
		return nil, diag.New(at, "it is of the environment %s and its cluster %s, not of %s", o.Environment, o.Cluster, f.env.name).WithCode(diag.Usage)
	}
	for _, n := range o.Nodes {
		f.env.masker.Add(n.Config)
	}
	f.env.masker.Add(o.HostKey)
	return o, nil
}
