package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// serverStep is a change of a server.
type serverStep struct{ *step }

func (s serverStep) wanted() (*schemas.InfraServer, error) {
	return desired(s.step, s.plan.Desired.Servers, func(w schemas.InfraServer) string { return w.Name })
}

// create makes a server and leaves it off until it is in the network:
// the call that creates it cannot choose its address there, and a server that
// starts without it comes up without it. Firewalls are in that call, so that it
// is never open.
func (s serverStep) create(ctx context.Context) error {
	want, err := s.wanted()
	if err != nil {
		return err
	}
	opts, err := s.options(ctx, want)
	if err != nil {
		return err
	}
	server, err := s.order(ctx, want, opts)
	if err != nil {
		return err
	}
	have := serverFrom(server)
	s.made(server.ID)
	s.mu.Lock()
	s.found.Servers = append(s.found.Servers, have)
	s.mu.Unlock()
	return s.finish(ctx, want, have)
}

// finish does what the call that creates a server does not.
func (s serverStep) finish(ctx context.Context, want *schemas.InfraServer, have cloudplan.Server) error {
	server := &hcloud.Server{ID: have.ID}
	if want.PrivateIP != "" {
		if err := s.attach(ctx, server, want.PrivateIP); err != nil {
			return err
		}
	}
	if err := s.powerOn(ctx, server); err != nil {
		return err
	}
	if want.Backups {
		if err := s.backups(ctx, server, true); err != nil {
			return err
		}
	}
	for _, a := range []struct{ ip, template string }{
		{have.PublicIPv4.IP, want.ReverseDNS.IPv4}, {have.PublicIPv6.IP, want.ReverseDNS.IPv6},
	} {
		if a.ip != "" && a.template != "" {
			if err := s.reverse(ctx, server, a.ip, cloudplan.ReverseName(a.template, have.ID, a.ip)); err != nil {
				return err
			}
		}
	}
	if want.Protected {
		return s.protect(ctx, server, true)
	}
	return nil
}

// order creates a server with the first type and in the first location
// that Hetzner has one of.
func (s serverStep) order(ctx context.Context, want *schemas.InfraServer, opts hcloud.ServerCreateOpts) (*hcloud.Server, error) {
	var failures []error
	for _, candidate := range s.Candidates {
		opts.ServerType = &hcloud.ServerType{Name: candidate.Type}
		opts.Location = &hcloud.Location{Name: candidate.Location}
		opts.PublicNet.IPv4, opts.PublicNet.IPv6 = s.kept(hcloud.PrimaryIPTypeIPv4, candidate.Location), s.kept(hcloud.PrimaryIPTypeIPv6, candidate.Location)
		opts.Volumes = s.ownVolumes(want, candidate.Location)
		made, _, err := s.api.Server.Create(ctx, opts)
		if err == nil {
			if err = s.waiter.wait(ctx, append(made.NextActions, made.Action)...); err == nil {
				return made.Server, nil
			}
			if soldOut(err) {
				// Hetzner noticed late. The server may be there, and has the name.
				err = errors.Join(err, s.drop(ctx, made.Server.ID))
			}
		}
		err = explain(s.object, fmt.Sprintf("create a %s in %s", candidate.Type, candidate.Location), err)
		if !soldOut(err) {
			return nil, err
		}
		failures = append(failures, err)
	}
	return nil, allSoldOut(s.object, failures)
}

// allSoldOut is the error when there is no server to be had.
func allSoldOut(object string, failures []error) error {
	if len(failures) == 0 {
		return diag.On(object, "there is no type and location to try").WithCode(diag.Remote)
	}
	var list diag.List
	for _, f := range failures {
		list.AddErr(f)
	}
	return list
}

// soldOut reports whether another type or location may do.
func soldOut(err error) bool {
	return hasCode(err, hcloud.ErrorCodeResourceUnavailable, hcloud.ErrorCodePlacementError)
}

func (s serverStep) options(ctx context.Context, want *schemas.InfraServer) (opts hcloud.ServerCreateOpts, err error) {
	opts = hcloud.ServerCreateOpts{
		Name:             want.Name,
		Labels:           cloudplan.ServerLabels(*want),
		StartAfterCreate: hcloud.Ptr(false),
		Automount:        hcloud.Ptr(false),
		PublicNet:        &hcloud.ServerCreatePublicNet{EnableIPv4: want.PublicIPv4, EnableIPv6: want.PublicIPv6},
	}
	if opts.UserData, err = s.userData(want); err != nil {
		return opts, err
	}
	image, err := s.imageOf(want)
	if err != nil {
		return opts, err
	}
	opts.Image = &hcloud.Image{ID: image}
	for _, name := range want.SSHKeys {
		id, err := s.id(cloudplan.KindSSHKey, name)
		if err != nil {
			return opts, err
		}
		opts.SSHKeys = append(opts.SSHKeys, &hcloud.SSHKey{ID: id})
	}
	if want.PlacementGroup != "" {
		id, err := s.id(cloudplan.KindPlacementGroup, want.PlacementGroup)
		if err != nil {
			return opts, err
		}
		opts.PlacementGroup = &hcloud.PlacementGroup{ID: id}
	}
	opts.Firewalls, err = s.firewallsFor(want)
	return opts, err
}

// userData fills in the private host key, where it is asked for.
func (s serverStep) userData(want *schemas.InfraServer) (string, error) {
	if want.HostKey == "" {
		return want.UserData, nil
	}
	if s.inputs.HostKey == nil {
		return "", diag.On(s.object, "its SSH host key is not known").WithCode(diag.Secrets)
	}
	key, err := s.inputs.HostKey(want.Name)
	if err != nil {
		return "", err
	}
	return schemas.FillHostKey(want.UserData, key.Reveal()), nil
}

// imageOf is the image that the plan chose, or the one made since.
func (s serverStep) imageOf(want *schemas.InfraServer) (int64, error) {
	if s.Image != 0 {
		return s.Image, nil
	}
	return s.id(cloudplan.KindImage, cloudplan.ImageName(schemas.InfraSnapshot{
		Selector: want.Image.Selector, Architecture: want.Image.Architecture,
	}))
}

// firewallsFor are those that apply to the labels of a server. By their
// selectors they would come a while after the server; without public addresses
// there is nothing to filter.
func (s serverStep) firewallsFor(want *schemas.InfraServer) (out []*hcloud.ServerCreateFirewall, err error) {
	if !want.PublicIPv4 && !want.PublicIPv6 {
		return nil, nil
	}
	for _, f := range s.plan.Desired.Firewalls {
		selector, err := labelselector.Parse(f.ApplyTo)
		if err != nil {
			return nil, err
		}
		if f.ApplyTo == "" || !selector.Matches(want.Labels) {
			continue
		}
		id := f.ExistingID
		if id == 0 {
			if id, err = s.id(cloudplan.KindFirewall, f.Name); err != nil {
				return nil, err
			}
		}
		out = append(out, &hcloud.ServerCreateFirewall{Firewall: hcloud.Firewall{ID: id}})
	}
	return out, nil
}

// attach puts a server into the cluster's network.
func (s serverStep) attach(ctx context.Context, server *hcloud.Server, ip string) error {
	return s.changeNetwork(ctx, "attach it to the network with "+ip, func(n *hcloud.Network) (*hcloud.Action, *hcloud.Response, error) {
		return s.api.Server.AttachToNetwork(ctx, server, hcloud.ServerAttachToNetworkOpts{Network: n, IP: net.ParseIP(ip)})
	})
}

func (s serverStep) backups(ctx context.Context, server *hcloud.Server, on bool) error {
	return s.await(ctx, "change its backups", func() (*hcloud.Action, *hcloud.Response, error) {
		if on {
			return s.api.Server.EnableBackup(ctx, server, "")
		}
		return s.api.Server.DisableBackup(ctx, server)
	})
}

// reverse sets the reverse DNS name of an address; "" is Hetzner's default.
func (s *step) reverse(ctx context.Context, of hcloud.RDNSSupporter, ip, name string) error {
	var ptr *string
	if name != "" {
		ptr = &name
	}
	return s.await(ctx, "set the reverse DNS name of "+ip, func() (*hcloud.Action, *hcloud.Response, error) {
		return s.api.RDNS.ChangeDNSPtr(ctx, of, net.ParseIP(cloudplan.ReverseAddress(ip)), ptr)
	})
}

func (s serverStep) protect(ctx context.Context, server *hcloud.Server, on bool) error {
	return s.await(ctx, "change its protection", func() (*hcloud.Action, *hcloud.Response, error) {
		return s.api.Server.ChangeProtection(ctx, server, hcloud.ServerChangeProtectionOpts{Delete: &on, Rebuild: &on})
	})
}

// remove deletes a server. Its addresses go with it, and it leaves its
// network, placement group, firewalls, load balancers and volumes by itself.
func (s serverStep) remove(ctx context.Context) error {
	if err := s.claimVolumes(ctx); err != nil {
		return err
	}
	if s.LiftProtection {
		if err := s.protect(ctx, &hcloud.Server{ID: s.ID}, false); err != nil {
			return done(err)
		}
	}
	return s.drop(ctx, s.ID)
}

// madeByCSI is what volumes of the CSI driver have as managed-by.
const madeByCSI = "csi-driver"

// claimVolumes labels the volumes of the CSI driver at the server with the
// cluster: that they are at its servers is often all that says whose they are,
// and once the server is gone a later run could not find them any more.
func (s serverStep) claimVolumes(ctx context.Context) error {
	for _, v := range s.plan.Observed.Volumes {
		if v.Server != s.ID || v.Labels[schemas.LabelManagedBy] != madeByCSI || v.Labels[schemas.LabelCluster] != "" {
			continue
		}
		labels := maps.Clone(v.Labels)
		labels[schemas.LabelCluster] = s.plan.Cluster
		_, _, err := s.api.Volume.Update(ctx, &hcloud.Volume{ID: v.ID}, hcloud.VolumeUpdateOpts{Labels: labels})
		if done(err) != nil {
			return explain(s.object, "label its volume "+v.Name, err)
		}
	}
	return nil
}

func (s serverStep) drop(ctx context.Context, id int64) error {
	deleted, _, err := s.api.Server.DeleteWithResult(ctx, &hcloud.Server{ID: id})
	if err != nil {
		return done(err)
	}
	return done(s.waiter.wait(ctx, deleted.Action))
}
