package apply

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// ports of nodes that a run talks to: Talos' API, and that of Kubernetes.
var ports = []string{"50000", "6443"}

// sessionAccess lets the addresses of this machine in, as long as the session
// lives, where nobody else may come in.
type sessionAccess struct {
	infra   *schemas.Infrastructure
	project *cloud.Client // nil for machines that exist already
	own     func(context.Context) []netip.Addr
	run     cloud.Run
	held    *heldLock
	lasts   time.Duration  // of what is opened; 0: as long as runs have it
	session *cloud.Session // while it is open
}

// open opens it. Without servers there is nothing to be let in to.
func (a *sessionAccess) open(ctx context.Context, o cloudplan.Observed) error {
	if a.session != nil || a.project == nil || len(o.Servers) == 0 || a.own == nil || !a.closed() {
		return nil
	}
	open := cloud.Access{Ports: ports, Servers: nodeSelector(a.infra), Locked: a.held.lock != nil, Lasts: a.lasts}
	if a.infra.Access.Jump != "" {
		open.Ports, open.Servers = []string{sshPort}, jumpSelector(a.infra.Cluster)
	}
	all := a.own(ctx)
	for _, own := range all {
		if a.admits(own) {
			open.From = append(open.From, netip.PrefixFrom(own, own.BitLen()))
		}
	}
	if len(open.From) == 0 && a.allowed(&o, all) {
		return nil
	}
	if len(open.From) == 0 {
		why := "your public address is not known"
		if len(all) > 0 {
			why = fmt.Sprintf("your public address is %s, and the cluster lets in the other IP version only", all[0])
		}
		return diag.On("session access to the cluster "+a.infra.Cluster, "%s, so you cannot be let in", why).
			WithHint("name ranges in hetzner.firewall.apiSource of cluster.yaml, render, and apply the infrastructure: --stage infrastructure").WithCode(diag.Remote)
	}
	var err error
	a.session, err = a.project.OpenSession(ctx, a.run, open)
	return err
}

// closed reports whether the cluster lets in those who open it for a session.
func (a *sessionAccess) closed() bool {
	access := a.infra.Access
	if access.Jump != "" {
		return access.JumpSession
	}
	return access.Mode == accessPublic && (access.CurrentIPv4 || access.CurrentIPv6)
}

// admits reports whether an address is let in, by its version of IP.
func (a *sessionAccess) admits(own netip.Addr) bool {
	access := a.infra.Access
	return access.Jump != "" || own.Is4() && access.CurrentIPv4 || own.Is6() && access.CurrentIPv6
}

// allowed reports whether rules let one of the addresses in, without a session.
func (a *sessionAccess) allowed(o *cloudplan.Observed, all []netip.Addr) bool {
	return a.infra.Access.Jump == "" && slices.ContainsFunc(all, func(own netip.Addr) bool {
		return preflight.Standing(o, a.infra.Cluster, own)
	})
}

// holdsLock tells others that the run that was let in holds the lock now.
func (a *sessionAccess) holdsLock(ctx context.Context) error {
	if a.session == nil {
		return nil
	}
	return a.session.HoldsLock(ctx)
}

// is reports whether a firewall is the one that lets this session in.
func (a *sessionAccess) is(firewall string) bool {
	return a.session != nil && firewall == a.session.Name()
}

// close takes it away.
func (a *sessionAccess) close(ctx context.Context) error {
	if a.session == nil {
		return nil
	}
	err := a.session.Close(ctx)
	a.session = nil
	return err
}

// nodeSelector selects the nodes of a cluster, jumpSelector the server that leads
// to them.
func nodeSelector(infra *schemas.Infrastructure) string {
	controlPlane := schemas.RoleControlPlane
	for _, s := range infra.Servers {
		if s.Role == schemas.RoleControlPlane && s.Labels[schemas.LabelRole] != "" {
			controlPlane = s.Labels[schemas.LabelRole]
		}
	}
	return schemas.LabelCluster + "=" + infra.Cluster + "," +
		schemas.LabelRole + " in (" + controlPlane + "," + schemas.RoleWorker + ")"
}

func jumpSelector(cluster string) string {
	return schemas.LabelCluster + "=" + cluster + "," + schemas.LabelRole + "=" + schemas.RoleNATGateway
}
