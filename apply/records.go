package apply

import (
	"context"
	"encoding/base32"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/schemas"
)

// serverRecords keep whether servers were ever configured as a label of each: it
// goes with the server, and is there for everybody who may change the project.
type serverRecords struct {
	mark func(ctx context.Context, id int64, value string) error

	mu  sync.Mutex
	now map[string]string // the label by the server's id; absent: it has none
	own map[string]bool   // those that this session has written
}

func newServerRecords(mark func(ctx context.Context, id int64, value string) error) *serverRecords {
	return &serverRecords{mark: mark, now: map[string]string{}, own: map[string]bool{}}
}

// add takes in the label of a server. What this session has written since then
// stays.
func (r *serverRecords) add(have cloudplan.Server) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := strconv.FormatInt(have.ID, 10)
	value, labelled := have.Labels[schemas.LabelConfigured]
	switch {
	case r.own[id]:
	case labelled:
		r.now[id] = value
	default:
		delete(r.now, id)
	}
}

// Of reads the label of a server.
func (r *serverRecords) Of(m nodes.Machine) newonce.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, labelled := r.now[m.ID]
	if !labelled {
		return newonce.Record{State: newonce.Unrecorded, Bound: true}
	}
	return labelRecord(value)
}

// fingerprintLabel writes fingerprints with the characters of a label.
var fingerprintLabel = base32.HexEncoding.WithPadding(base32.NoPadding)

// labelRecord is what a label says. One that nobody understands says that the
// server is not new.
func labelRecord(value string) newonce.Record {
	r := newonce.Record{Bound: true}
	switch digest, err := fingerprintLabel.DecodeString(strings.ToUpper(value)); {
	case value == schemas.ConfiguredNo:
		r.State = newonce.Blank
	case value == schemas.ConfiguredYes:
		r.State = newonce.Sent
	case err == nil && schemas.IsFingerprint(base64.StdEncoding.EncodeToString(digest)):
		r.State, r.Fingerprint = newonce.Sending, base64.StdEncoding.EncodeToString(digest)
	}
	return r
}

// Sending writes the fingerprint to the label.
func (r *serverRecords) Sending(ctx context.Context, m nodes.Machine, fingerprint string) error {
	digest, err := base64.StdEncoding.DecodeString(fingerprint)
	if err != nil {
		return err
	}
	return r.write(ctx, m, strings.ToLower(fingerprintLabel.EncodeToString(digest)))
}

// Arrived writes that servers were configured.
func (r *serverRecords) Arrived(ctx context.Context, machines ...nodes.Machine) error {
	for _, m := range machines {
		if err := r.write(ctx, m, schemas.ConfiguredYes); err != nil {
			return err
		}
	}
	return nil
}

// Forgotten writes that a server was not configured.
func (r *serverRecords) Forgotten(ctx context.Context, m nodes.Machine) error {
	return r.write(ctx, m, schemas.ConfiguredNo)
}

func (r *serverRecords) write(ctx context.Context, m nodes.Machine, value string) error {
	id, err := strconv.ParseInt(m.ID, 10, 64)
	if err != nil {
		return err
	}
	if err := r.mark(ctx, id, value); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now[m.ID], r.own[m.ID] = value, true
	return nil
}

// splitRecords are those of servers, and of machines that exist already beside them.
type splitRecords struct{ servers, machines nodes.Records }

func (r splitRecords) of(m nodes.Machine) nodes.Records {
	if m.Exists {
		return r.machines
	}
	return r.servers
}

// Of reads the record of a machine.
func (r splitRecords) Of(m nodes.Machine) newonce.Record { return r.of(m).Of(m) }

// Sending writes which key a machine has shown.
func (r splitRecords) Sending(ctx context.Context, m nodes.Machine, fingerprint string) error {
	return r.of(m).Sending(ctx, m, fingerprint)
}

// Arrived writes that machines were configured.
func (r splitRecords) Arrived(ctx context.Context, machines ...nodes.Machine) error {
	for _, m := range machines {
		if err := r.of(m).Arrived(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// Forgotten writes that a machine was not configured.
func (r splitRecords) Forgotten(ctx context.Context, m nodes.Machine) error {
	return r.of(m).Forgotten(ctx, m)
}
