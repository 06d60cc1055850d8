package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/rescue"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

const (
	// writeTries bounds how often a rescue system is told to write its disk.
	writeTries = 3
	// othersPause is between looks at what another run makes.
	othersPause = 15 * time.Second
	// othersTries bounds these: longer than a builder may live.
	othersTries = 500
	// progressStep is how many bytes are written between pieces of news.
	progressStep = 100_000_000
	// cleanupTime is how long removing the builder may take, also after an
	// interrupt.
	cleanupTime = 2 * time.Minute
)

// Builder makes images. It is safe for concurrent use: one for each architecture.
type Builder struct {
	Project *cloud.Client
	// The run. Its cluster's lock is held, if that cluster's leftovers are to be
	// removed.
	Run cloud.Run
	// What is desired, for the server types that must be able to start from it.
	Desired schemas.Infrastructure
	Dial    Dialer
	Random  io.Reader
	Clock   cloud.Clock
	Mirrors Mirrors
}

// Make makes an image that is missing, and returns its id. One that has come to
// be meanwhile, or that another run makes, is taken as it is. The builder is
// removed whatever happens; after a crash the next run does it. Tell hears what
// is being done.
func (m *Builder) Make(ctx context.Context, want schemas.InfraSnapshot, notify func(string)) (int64, error) {
	if id, err := m.existing(ctx, want, notify); id != 0 || err != nil {
		return id, err
	}
	k, err := newKey(m.Random)
	if err != nil {
		return 0, err
	}
	name := builderName(want)
	for range othersTries {
		id, err := m.build(ctx, want, name, k, notify)
		var used *cloud.BuilderInUse
		if !errors.As(err, &used) {
			return id, err
		}
		notify(used.Error())
		if err := m.Clock.Sleep(ctx, othersPause); err != nil {
			return 0, err
		}
		if id, err := m.existing(ctx, want, notify); id != 0 || err != nil {
			return id, err
		}
	}
	return 0, diag.On("server "+name, "another run has it, and does not end").WithCode(diag.NotReady).WithHint("talosgen image list shows what there is")
}

// existing finds an image that is there, or is being made.
func (m *Builder) existing(ctx context.Context, want schemas.InfraSnapshot, notify func(string)) (int64, error) {
	found, err := m.Project.Snapshots(ctx, want.Selector, want.Architecture)
	if err != nil {
		return 0, err
	}
	for _, status := range []string{"available", "creating"} {
		for i := len(found) - 1; i >= 0; i-- { // the newest first
			if found[i].Status != status {
				continue
			}
			notify("waiting for the snapshot that is there")
			if err := m.Project.SnapshotReady(ctx, found[i].ID); err != nil {
				return 0, err
			}
			return found[i].ID, nil
		}
	}
	return 0, nil
}

// build makes a builder, an image with it, and removes it.
func (m *Builder) build(ctx context.Context, want schemas.InfraSnapshot, name string, k key, notify func(string)) (id int64, err error) {
	sold, err := m.Project.Sold(ctx)
	if err != nil {
		return 0, err
	}
	choice := cloudplan.ChooseBuilder(sold, m.Desired, want, m.Project.ServerTime())
	if len(choice.Candidates) == 0 {
		return 0, diag.On("image "+Arch(want.Architecture), "it cannot be made: %s", choice.Problem).WithCode(diag.Remote).
			WithHint("choose other server types in cluster.yaml, or make a snapshot with the labels %s yourself", want.Selector)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		if gone := m.Project.RemoveBuilder(ctx, name, m.Run); gone != nil {
			var list diag.List
			list.AddErr(err)
			list.AddErr(gone)
			err = list.Err()
		}
	}()
	if choice.Problem != "" {
		notify(choice.Problem)
	}
	notify(fmt.Sprintf("making a server to build it: %s in %s (%s)", choice.Candidates[0].Type, choice.Candidates[0].Location, choice.Reason))
	b, err := m.Project.OrderBuilder(ctx, cloud.BuilderOrder{
		Name: name, Run: m.Run, PublicKey: k.Public(), Candidates: choice.Candidates, Notify: notify,
	})
	if err != nil {
		return 0, err
	}
	// From here on nobody else makes it; until then somebody may have.
	if id, err := m.existing(ctx, want, notify); id != 0 || err != nil {
		return id, err
	}
	w, err := m.fill(ctx, *b, want, k, notify)
	if err != nil {
		return 0, err
	}
	notify("taking the snapshot")
	return m.Project.TakeSnapshot(ctx, *b, cloud.SnapshotOrder{Run: m.Run, Labels: want.Labels, Description: description(want, w)})
}

// description is what people see of a snapshot in the console.
func description(want schemas.InfraSnapshot, w rescue.Written) string {
	return fmt.Sprintf("Talos %s %s, schematic %s, image sha256 %s", want.Labels["talos_version"], Arch(want.Architecture),
		want.Labels["talos_schematic_id"], w.Packed)
}

// fill writes the image to the disk of a builder. When it returns, the whole
// image is on the disk, and the builder is off.
func (m *Builder) fill(ctx context.Context, b cloud.Builder, want schemas.InfraSnapshot, k key, notify func(string)) (w rescue.Written, err error) {
	notify("booting the rescue system")
	if err := m.Project.BootRescue(ctx, b, m.Run); err != nil {
		return w, err
	}
	for try := 1; ; try++ {
		w, err = m.write(ctx, b, m.Mirrors.Source(want), k, notify)
		if err == nil {
			notify("switching the server off")
			return w, m.Project.SwitchOff(ctx, b)
		}
		if ctx.Err() != nil || try == writeTries || !errors.Is(err, rescue.ErrAgain) {
			return w, err
		}
		notify(fmt.Sprintf("try %d: %v", try+1, err))
		if err := m.Clock.Sleep(ctx, rescue.BootPause); err != nil {
			return w, err
		}
	}
}

// write connects to the rescue system, and lets it write its disk.
func (m *Builder) write(ctx context.Context, b cloud.Builder, s Source, k key, notify func(string)) (rescue.Written, error) {
	r, err := rescue.Connect(ctx, rescue.Dialer(m.Dial), m.Clock, b.Address, k.Key, k.host)
	if err != nil {
		return rescue.Written{}, err
	}
	defer r.Close()
	notify("downloading " + s.URL)
	next := int64(0)
	return r.Write(ctx, s, disk, func(bytes int64) error {
		if bytes >= next {
			notify(fmt.Sprintf("wrote %d MB", bytes/1_000_000))
			next = bytes + progressStep
		}
		// Nothing else talks to Hetzner meanwhile.
		return m.Project.KeepLock(ctx)
	})
}
