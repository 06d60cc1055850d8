package cloud

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

const (
	// builderTime is how long a builder may live. Whoever finds an older one
	// removes it.
	builderTime = 2 * time.Hour
	// builderImage is on the disk of a builder before it is overwritten. Every
	// location has it, and it fits on every disk.
	builderImage = "debian-13"
	// labelFor says for which cluster a builder works. It is not the cluster's
	// own label: firewalls and load balancers select by that.
	labelFor = schemas.LabelPrefix + "cluster"
	// tries bounds how often a call is made whose answers get lost.
	tries = 5
)

// Builder is a temporary server that an image is made with. Its name is one
// that only one server of a project can have, so no two runs make the same
// image at once.
type Builder struct {
	ID      int64
	Name    string
	Address string // public, IPv4
	For     string // the cluster that its run is about
	Owner   string // of that run, for people
	Run     string
	Expires time.Time // by Hetzner's clock
}

// BuilderOrder says which builder to make.
type BuilderOrder struct {
	Name string
	Run  Run
	// Where and as what, best first.
	Candidates []cloudplan.Candidate
	// Hears which of them is tried instead of one that is sold out.
	Notify func(string)
	// The key that its rescue system lets in, as in authorized_keys.
	PublicKey string
}

// BuilderInUse is the error if another run makes the same image.
type BuilderInUse struct{ Builder Builder }

// Error says who is at work.
func (e *BuilderInUse) Error() string {
	return fmt.Sprintf("%s makes the same image", e.Builder.Owner)
}

func builderFrom(s *hcloud.Server) Builder {
	b := Builder{ID: s.ID, Name: s.Name, For: s.Labels[labelFor], Owner: s.Labels[labelOwner], Run: s.Labels[labelRun], Expires: expiry(s.Labels)}
	if ip := s.PublicNet.IPv4.IP; ip != nil {
		b.Address = ip.String()
	}
	return b
}

func expiry(labels map[string]string) time.Time {
	seconds, err := strconv.ParseInt(labels[labelExpires], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// builderCalls make and remove the servers that images are built on.
type builderCalls struct{ *calls }

// builderLabels are those of everything that a build needs for a while.
func (c builderCalls) builderLabels(run Run) map[string]string {
	labels := run.labels(schemas.ComponentBuilder, c.ServerTime().Add(builderTime))
	delete(labels, schemas.LabelCluster)
	labels[labelFor] = run.Cluster
	return labels
}

// keyName is the name of the key of a builder: another one for each run.
func keyName(builder string, run Run) string { return builder + "-" + labelValue(run.ID) }

// OrderBuilder makes a builder, and leaves it off. If another run has one of
// that name, the error is a [BuilderInUse].
func (c builderCalls) OrderBuilder(ctx context.Context, o BuilderOrder) (*Builder, error) {
	object := "server " + o.Name
	key, err := c.builderKey(ctx, o)
	if err != nil {
		return nil, explain("SSH key "+keyName(o.Name, o.Run), "create", err)
	}
	opts := hcloud.ServerCreateOpts{
		Name: o.Name, Labels: c.builderLabels(o.Run), Image: &hcloud.Image{Name: builderImage},
		StartAfterCreate: hcloud.Ptr(false),
		// Nobody uses it, but without a key Hetzner sends a password by e-mail.
		SSHKeys:   []*hcloud.SSHKey{key},
		PublicNet: &hcloud.ServerCreatePublicNet{EnableIPv4: true},
	}
	var failures []error
	for i, candidate := range o.Candidates {
		if i > 0 {
			before := o.Candidates[i-1]
			o.Notify(fmt.Sprintf("%s in %s is sold out, trying %s in %s", before.Type, before.Location, candidate.Type, candidate.Location))
		}
		opts.ServerType, opts.Location = &hcloud.ServerType{Name: candidate.Type}, &hcloud.Location{Name: candidate.Location}
		b, err := c.createBuilder(ctx, o.Run, opts)
		if err == nil {
			return b, nil
		}
		var used *BuilderInUse
		if errors.As(err, &used) {
			return nil, err
		}
		err = explain(object, fmt.Sprintf("create a %s in %s", candidate.Type, candidate.Location), err)
		if !soldOut(err) {
			return nil, err
		}
		failures = append(failures, err)
	}
	return nil, allSoldOut(object, failures)
}

// builderKey puts the public key into the project, once.
func (c builderCalls) builderKey(ctx context.Context, o BuilderOrder) (*hcloud.SSHKey, error) {
	name := keyName(o.Name, o.Run)
	return again(ctx, c.calls, func() (*hcloud.SSHKey, error) {
		made, _, err := c.api.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: name, PublicKey: o.PublicKey, Labels: c.builderLabels(o.Run)})
		if err == nil || !hasCode(err, hcloud.ErrorCodeUniquenessError) {
			return made, err
		}
		// An earlier try has made it: its name holds the run.
		there, _, lookup := c.api.SSHKey.GetByName(ctx, name)
		if lookup != nil || there == nil {
			return nil, errors.Join(err, lookup)
		}
		return there, nil
	})
}

// createBuilder makes the server with one type in one location.
func (c builderCalls) createBuilder(ctx context.Context, run Run, opts hcloud.ServerCreateOpts) (*Builder, error) {
	return again(ctx, c.calls, func() (*Builder, error) {
		made, _, err := c.api.Server.Create(ctx, opts)
		if err == nil {
			b := builderFrom(made.Server)
			if err = c.waiter.wait(ctx, append(made.NextActions, made.Action)...); err != nil && soldOut(err) {
				err = errors.Join(err, c.removeServer(ctx, b.ID)) // Hetzner noticed late
			}
			return &b, err
		}
		if !hasCode(err, hcloud.ErrorCodeUniquenessError) {
			return nil, err
		}
		return c.builderThere(ctx, run, opts.Name, err)
	})
}

// builderThere decides about the builder that has the name already: it is this
// run's, because an answer was lost; or left over, and has to go; or at work.
func (c builderCalls) builderThere(ctx context.Context, run Run, name string, taken error) (*Builder, error) {
	there, _, err := c.api.Server.GetByName(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case there == nil: // it has just gone
		return nil, &LostAnswer{Err: taken}
	}
	b := builderFrom(there)
	switch {
	case there.Labels[schemas.LabelComponent] != schemas.ComponentBuilder:
		return nil, diag.On("server "+name, "it is something else, and has the name that talosgen needs").WithCode(diag.Conflict).WithHint("rename it")
	case b.Run == labelValue(run.ID):
		return &b, c.untilOff(ctx, b)
	case !c.leftOver(b.For, b.Expires, run.Cluster):
		return nil, &BuilderInUse{b}
	}
	if err := c.removeServer(ctx, b.ID); err != nil {
		return nil, err
	}
	return nil, &LostAnswer{Err: taken} // the name is free now
}

// leftOver reports whether something temporary belongs to a run that is dead:
// its time is over, or it is of the cluster whose lock this run holds.
func (c builderCalls) leftOver(of string, expires time.Time, holding string) bool {
	return of == holding || !c.ServerTime().Before(expires)
}

// untilOff waits until a builder is off and nothing is done to it.
func (c builderCalls) untilOff(ctx context.Context, b Builder) error {
	until := c.clock.Now().Add(offTime)
	for n := 0; ; n++ {
		server, _, err := c.api.Server.GetByID(ctx, b.ID)
		switch {
		case err != nil:
			return err
		case server == nil:
			return diag.On("server "+b.Name, "it is gone").WithCode(diag.Remote).WithHint(hintOther)
		case server.Status == hcloud.ServerStatusOff && !server.Locked:
			return nil
		case c.clock.Now().After(until):
			return diag.On("server "+b.Name, "it does not switch off").WithCode(diag.NotReady).WithHint(hintAgain)
		}
		if err := c.clock.Sleep(ctx, backoff(n, firstPoll, mostPoll, 1)); err != nil {
			return err
		}
	}
}

// BootRescue boots a builder into Hetzner's rescue system, which lets in the key
// of its run.
func (c builderCalls) BootRescue(ctx context.Context, b Builder, run Run) error {
	object, server := "server "+b.Name, &hcloud.Server{ID: b.ID}
	key, _, err := c.api.SSHKey.GetByName(ctx, keyName(b.Name, run))
	if err != nil || key == nil {
		return explain("SSH key "+keyName(b.Name, run), "read", errors.Join(err, missingKey(key)))
	}
	err = c.twice(ctx, func() (*hcloud.Action, error) {
		made, _, err := c.api.Server.EnableRescue(ctx, server, hcloud.ServerEnableRescueOpts{
			Type: hcloud.ServerRescueTypeLinux64, SSHKeys: []*hcloud.SSHKey{key},
		})
		return made.Action, err
	})
	if err != nil {
		return explain(object, "enable its rescue system", err)
	}
	err = c.twice(ctx, func() (*hcloud.Action, error) {
		action, _, err := c.api.Server.Poweron(ctx, server)
		return action, err
	})
	return explain(object, "start it", err)
}

func missingKey(key *hcloud.SSHKey) error {
	if key == nil {
		return errors.New("it is gone")
	}
	return nil
}

// SwitchOff cuts the power of a builder, and returns when it is off. What has to
// stay must be on its disk by then.
func (c builderCalls) SwitchOff(ctx context.Context, b Builder) error {
	err := c.twice(ctx, func() (*hcloud.Action, error) {
		action, _, err := c.api.Server.Poweroff(ctx, &hcloud.Server{ID: b.ID})
		return action, err
	})
	if err == nil {
		err = c.untilOff(ctx, b)
	}
	return explain("server "+b.Name, "switch it off", err)
}

// twice makes a call that does the same the second time, and waits for its
// action.
func (c builderCalls) twice(ctx context.Context, call func() (*hcloud.Action, error)) error {
	action, err := again(ctx, c.calls, call)
	if err != nil {
		return err
	}
	return c.waiter.wait(ctx, action)
}

// again repeats a call while its answers get lost.
func again[T any](ctx context.Context, c *calls, call func() (T, error)) (result T, err error) {
	for n := range tries {
		var lost *LostAnswer
		if result, err = call(); err == nil || !errors.As(err, &lost) {
			return result, err
		}
		if err := c.clock.Sleep(ctx, backoff(n, firstWait, mostWait, c.wire.rand())); err != nil {
			return result, err
		}
	}
	return result, err
}
