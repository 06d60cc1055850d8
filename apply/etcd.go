package apply

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/snapshot"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
)

func controlPlaneMachines(c *nodes.Cluster) []nodes.Machine {
	return slices.DeleteFunc(slices.Clone(c.Machines), func(m nodes.Machine) bool { return m.Role != nodeplan.ControlPlane })
}

// Keep writes a file of a name that is given, and returns where it is. If write
// fails there is no file.
type Keep func(name string, write func(io.Writer) error) (where string, err error)

// EtcdSnapshot is a snapshot that was kept.
type EtcdSnapshot struct {
	Where string `json:"file"`
	// The size of the database, in bytes, and the digest that etcd gave it.
	Size   int64  `json:"size"`
	Digest string `json:"sha256"`
	// The operators who cannot decrypt it: it is in the format of age, which
	// knows no other keys than its own and those of SSH.
	LeftOut []string `json:"leftOut,omitempty"`
}

// backups keep snapshots of etcd in files, encrypted for the operators.
type backups struct {
	env   *Environment
	clock cloud.Clock
	files Keep // nil: there is no place for those that a run takes by itself
	times snapshotTimes
}

// save keeps a snapshot before a member goes for good.
func (b *backups) save(ctx context.Context, from *node.Client) (where string, err error) {
	if b.files == nil {
		return "", diag.On("etcd", "there is no place for its snapshot").WithCode(diag.Usage)
	}
	saved, err := b.keep(ctx, from, b.files)
	if err != nil {
		return "", err
	}
	return saved.Where, nil
}

// snapshotTimes are what snapshots of a run are named after: another second for each.
type snapshotTimes struct {
	mu   sync.Mutex
	last time.Time
}

func (t *snapshotTimes) next(now time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	now = now.Truncate(time.Second)
	if !now.After(t.last) {
		now = t.last.Add(time.Second)
	}
	t.last = now
	return now
}

// keep writes a snapshot as it comes from a member.
func (b *backups) keep(ctx context.Context, from *node.Client, keep Keep) (*EtcdSnapshot, error) {
	var saved EtcdSnapshot
	name := snapshot.FileName(b.env.Infrastructure.Cluster, b.times.next(b.clock.Now()))
	where, err := keep(name, func(file io.Writer) error {
		encrypted, leftOut, err := b.env.keys.EncryptStream(file, b.env.recipients)
		if err != nil {
			return err
		}
		info, err := snapshot.Take(func(to io.Writer) error { return from.Snapshot(ctx, to) }, encrypted)
		saved = EtcdSnapshot{Size: info.Size, Digest: info.Digest, LeftOut: leftOut}
		return err
	})
	saved.Where = where
	return &saved, err
}
