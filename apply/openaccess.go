package apply

import (
	"context"
	"net/netip"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/wayin"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Access opens and closes access to the nodes of a session's cluster, beside the rules
// of its tree.
type Access struct{ *Session }

// Open lets addresses in to the APIs of the nodes for a while, or to the SSH
// server that leads to them. What the owner has opened before ends with it.
func (s Access) Open(ctx context.Context, a wayin.Opening, owner Owner) (cloudplan.OpenAccess, error) {
	infra := &s.env.Infrastructure
	if err := s.opens(); err != nil {
		return cloudplan.OpenAccess{}, err
	}
	o, err := s.connect.observe(ctx)
	if err != nil {
		return cloudplan.OpenAccess{}, err
	}
	open := cloud.Access{Ports: ports, Servers: nodeSelector(infra), Lasts: a.Lasts, Stays: true, From: a.From}
	roles := []string{schemas.RoleControlPlane, schemas.RoleWorker}
	if infra.Access.Jump != "" {
		open.Ports, open.Servers, roles = []string{sshPort}, jumpSelector(infra.Cluster), []string{schemas.RoleNATGateway}
	}
	if err := filtered(o, infra.Cluster, s.env.name, roles); err != nil {
		return cloudplan.OpenAccess{}, err
	}
	if len(open.From) == 0 && s.connect.reach.open.own != nil {
		for _, own := range s.connect.reach.open.own(ctx) {
			open.From = append(open.From, netip.PrefixFrom(own, own.BitLen()))
		}
	}
	if len(open.From) == 0 {
		return cloudplan.OpenAccess{}, diag.On("access to the cluster "+infra.Cluster, "your public address is not known").
			WithHint("name it with --source").WithCode(diag.Remote)
	}
	session, err := s.project.OpenSession(ctx, owner.in(infra.Cluster), open)
	if err != nil {
		return cloudplan.OpenAccess{}, err
	}
	return s.renewed(ctx, owner, session)
}

// renewed closes what the owner had opened before a session, and reads the session
// as it is at Hetzner.
func (s Access) renewed(ctx context.Context, owner Owner, session *cloud.Session) (cloudplan.OpenAccess, error) {
	cluster := s.env.Infrastructure.Cluster
	if _, err := s.project.CloseAccess(ctx, cluster, owner.Name, session.Name()); err != nil {
		return cloudplan.OpenAccess{}, err
	}
	all, err := s.project.Accesses(ctx, cluster)
	if err != nil {
		return cloudplan.OpenAccess{}, err
	}
	i := slices.IndexFunc(all, func(a cloudplan.OpenAccess) bool { return a.Firewall == session.Name() })
	if i < 0 {
		return cloudplan.OpenAccess{}, diag.On("firewall "+session.Name(), "is not there any more: another run has removed it").
			WithHint("see whether the cluster is being destroyed; else open it again").WithCode(diag.Conflict)
	}
	return all[i], nil
}

// Close ends the access that an owner has opened, or with all, that any
// operator has opened. What runs have left whose time is over goes too.
func (s Access) Close(ctx context.Context, owner Owner, all bool) ([]cloudplan.OpenAccess, error) {
	if s.project == nil {
		return nil, s.opens()
	}
	name := owner.Name
	if all {
		name = ""
	}
	return s.project.CloseAccess(ctx, s.env.Infrastructure.Cluster, name, "")
}

// List is the access that is open now beside the rules of the tree; none for
// machines that exist already.
func (s Access) List(ctx context.Context) ([]cloudplan.OpenAccess, error) {
	if s.project == nil {
		return []cloudplan.OpenAccess{}, nil
	}
	return s.project.Accesses(ctx, s.env.Infrastructure.Cluster)
}

// opens reports what prevents that a firewall gives access to the nodes.
func (s Access) opens() error {
	object := "access to the cluster " + s.env.Infrastructure.Cluster
	switch {
	case s.project == nil:
		return diag.On(object, "its machines exist already, so no firewall of Hetzner Cloud is in front of them").WithCode(diag.Usage)
	case s.env.Infrastructure.Access.Jump == "" && s.env.Infrastructure.Access.Mode != accessPublic:
		return diag.On(object, "its nodes have no public addresses, and no gateway leads to them").
			WithHint("they are reached from their private network, such as through a VPN").WithCode(diag.Usage)
	}
	return nil
}

// filtered makes sure that there are servers with some of the roles, each behind a
// firewall already: the first firewall of a server closes all other ports.
func filtered(o cloudplan.Observed, cluster, env string, roles []string) error {
	found := false
	for _, server := range o.Servers {
		if server.Labels[schemas.LabelCluster] != cluster || !slices.Contains(roles, schemas.RoleOf(server.Labels)) {
			continue
		}
		found = true
		if len(server.Firewalls) == 0 {
			return diag.On("server "+server.Name, "has no firewall, so all addresses reach it, and a first one would close its other ports").
				WithHint("if it should have one, `talosgen plan %s` shows it", env).WithCode(diag.Usage)
		}
	}
	if !found {
		return diag.On("access to the cluster "+cluster, "there is no server yet that it could be opened to").
			WithHint("`talosgen apply %s` makes them", env).WithCode(diag.Usage)
	}
	return nil
}
