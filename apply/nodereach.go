package apply

import (
	"context"
	"net"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// sshUser is the one whom Hetzner Cloud gives the SSH keys of a server.
const sshUser = "root"

// Dial makes it a transport.
func (d dialer) Dial(ctx context.Context, address string) (net.Conn, error) {
	return d.dial(ctx, address)
}

type dialer struct{ dial image.Dialer }

// nodeReach is the way to the nodes of a cluster: from this machine, or through
// the server that the tree names, with the addresses of this machine let in.
type nodeReach struct {
	infra     *schemas.Infrastructure
	inventory *inventory
	dial      image.Dialer // nil: nodes are left out
	signers   reach.Signers
	open      *sessionAccess
	jump      *reach.Jumps // the servers that lead to nodes, once they are known
	clients   nodes.Clients
}

// enter lets this machine in, and leads to the nodes.
func (r *nodeReach) enter(ctx context.Context, o cloudplan.Observed) (reach.Transport, error) {
	if err := r.open.open(ctx, o); err != nil {
		return nil, err
	}
	return r.transport(o)
}

// transport leads to the nodes.
func (r *nodeReach) transport(o cloudplan.Observed) (reach.Transport, error) {
	name := r.infra.Access.Jump
	switch {
	case r.jump != nil:
		return r.jump, nil
	case name == "":
		return dialer{r.dial}, nil
	}
	object := "server " + name
	bastions := r.bastions(o)
	if len(bastions) == 0 {
		return nil, diag.On(object, "the way to the nodes leads through it, and it is not there, or has no public address").
			WithHint("apply the infrastructure first").WithCode(diag.Remote)
	}
	if r.signers == nil {
		return nil, diag.On(object, "the way to the nodes leads through it, and there is no SSH key to log in with").
			WithHint("load one into your agent with ssh-add, or name its file with --ssh-key").WithCode(diag.Secrets)
	}
	j, err := reach.NewJumps(dialer{r.dial}, bastions...)
	if err != nil {
		return nil, err
	}
	r.jump = j
	return j, nil
}

// bastions are the servers that lead to the nodes and are there, in the order in which
// they are tried: those that run come first.
func (r *nodeReach) bastions(o cloudplan.Observed) (all []reach.Bastion) {
	var off []reach.Bastion
	for _, want := range r.infra.Servers {
		have := r.inventory.server(o, want.Name)
		switch {
		case !r.infra.Access.Leads(want.Name) || have == nil || publicAddress(*have) == "":
		case have.Status == statusRunning:
			all = append(all, r.bastion(want, *have))
		default:
			off = append(off, r.bastion(want, *have))
		}
	}
	return append(all, off...)
}

// bastion is a server as one that leads to nodes.
func (r *nodeReach) bastion(want schemas.InfraServer, have cloudplan.Server) reach.Bastion {
	return reach.Bastion{
		Name: want.Name, Address: net.JoinHostPort(publicAddress(have), sshPort), User: sshUser,
		HostKey: want.HostKey, Signers: r.signers,
	}
}

// forgetJump ends the connections through the servers that lead to nodes: they may be
// others now.
func (r *nodeReach) forgetJump() {
	if r.jump == nil {
		return
	}
	r.clients.Close()
	_ = r.jump.Close() // nobody uses it
	r.jump = nil
}

// close ends the connections, and takes away what let this machine in, also after
// an interrupt.
func (r *nodeReach) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	var problems diag.List
	r.clients.Close()
	if r.jump != nil {
		problems.AddErr(r.jump.Close())
		r.jump = nil
	}
	problems.AddErr(r.open.close(ctx))
	return problems.Err()
}
