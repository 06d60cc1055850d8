package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/schemas"
)

// Labels of firewalls that live as long as a run: locks and session access.
const (
	labelOwner   = schemas.LabelPrefix + "owner"
	labelRun     = schemas.LabelPrefix + "run"
	labelExpires = schemas.LabelPrefix + "expires" // Unix seconds of Hetzner's clock
	// Of session access: its run has held the lock of the cluster. Who holds it
	// later knows that this run is dead.
	labelHeldLock = schemas.LabelPrefix + "held-lock"
	// Of session access: an operator has opened it, and it stays open after its run.
	labelStays = schemas.LabelPrefix + "stays-open"
)

// Run is one execution of talosgen that changes things.
type Run struct {
	// The cluster that it is about.
	Cluster string
	// Who runs it, for people: user and machine.
	Owner string
	// What no other run has: characters that a label may have.
	ID string
}

// marker is a firewall that says something about a run.
type marker struct {
	id      int64
	name    string
	labels  map[string]string
	expires time.Time
}

func markerFrom(f *hcloud.Firewall) marker {
	m := marker{id: f.ID, name: f.Name, labels: f.Labels}
	if seconds, err := strconv.ParseInt(f.Labels[labelExpires], 10, 64); err == nil {
		m.expires = time.Unix(seconds, 0)
	}
	return m
}

// labels of a marker of the run.
func (r Run) labels(component string, expires time.Time) map[string]string {
	return map[string]string{
		schemas.LabelCluster:   r.Cluster,
		schemas.LabelManagedBy: schemas.ManagedBy,
		schemas.LabelComponent: component,
		labelOwner:             labelValue(r.Owner),
		labelRun:               labelValue(r.ID),
		labelExpires:           strconv.FormatInt(expires.Unix(), 10),
	}
}

// labelValue makes a text fit for the value of a label: at most 63 letters,
// digits, hyphens, underscores and dots, no sign at its ends.
func labelValue(text string) string {
	value := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-', r == '_', r == '.':
			return r
		default:
			return '-'
		}
	}, text)
	if len(value) > 63 {
		value = value[:63]
	}
	return strings.Trim(value, "-_.")
}

// markerCalls are about firewalls that only say something for a while, as locks
// and sessions do.
type markerCalls struct{ firewallCalls }

// expiry returns when something expires that lasts so long from now on, by
// Hetzner's clock. That of this machine may be wrong by hours.
func (c markerCalls) expiry(ctx context.Context, lasts time.Duration) (time.Time, error) {
	if !c.wire.knowsTime() {
		if _, _, err := c.api.Location.List(ctx, hcloud.LocationListOpts{}); err != nil {
			return time.Time{}, err
		}
	}
	return c.ServerTime().Add(lasts), nil
}

// createMarker makes a marker of a run. Another one of that name is an error
// with the code uniqueness_error, unless it is of the same run: then the answer
// of an earlier try was lost.
func (c markerCalls) createMarker(ctx context.Context, run Run, opts hcloud.FirewallCreateOpts) (marker, error) {
	made, _, err := c.api.Firewall.Create(ctx, opts)
	if err == nil {
		m := markerFrom(made.Firewall)
		if err = c.waiter.wait(ctx, made.Actions...); err != nil {
			// It is there, and not as it should be: nobody would know it.
			back, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
			defer cancel()
			err = errors.Join(err, c.removeFirewall(back, m.id))
		}
		return m, err
	}
	var lost *LostAnswer
	if !errors.As(err, &lost) && !hasCode(err, hcloud.ErrorCodeUniquenessError) {
		return marker{}, err
	}
	there, _, lookup := c.api.Firewall.GetByName(ctx, opts.Name)
	if lookup != nil {
		return marker{}, lookup
	}
	if there != nil && there.Labels[labelRun] == labelValue(run.ID) && c.ServerTime().Before(markerFrom(there).expires) {
		return markerFrom(there), nil
	}
	return marker{}, err
}

// renewMarker moves the end of a marker.
func (c markerCalls) renewMarker(ctx context.Context, m *marker, expires time.Time) error {
	labels := maps.Clone(m.labels)
	labels[labelExpires] = strconv.FormatInt(expires.Unix(), 10)
	if _, _, err := c.api.Firewall.Update(ctx, &hcloud.Firewall{ID: m.id}, hcloud.FirewallUpdateOpts{Labels: labels}); err != nil {
		return err
	}
	m.labels, m.expires = labels, expires
	return nil
}

// markers lists the markers of a cluster that are of a kind.
func (c markerCalls) markers(ctx context.Context, cluster, component string) ([]marker, error) {
	selector := fmt.Sprintf("%s=%s,%s=%s", schemas.LabelCluster, cluster, schemas.LabelComponent, component)
	found, err := all(ctx, "firewalls", selector, func(l hcloud.ListOpts) ([]*hcloud.Firewall, *hcloud.Response, error) {
		return c.api.Firewall.List(ctx, hcloud.FirewallListOpts{ListOpts: l, Sort: oldestFirst})
	})
	return convert(found, markerFrom), err
}
