package apply

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/access"
	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/node/reach"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

const (
	// accessPublic is the mode of access by public addresses.
	accessPublic = "public"
	// clientLifetime is how long the certificate is valid that nodes are talked
	// to with. Another one is signed when two thirds of it are over.
	clientLifetime = time.Hour
	// sshUser is the one whom Hetzner Cloud gives the SSH keys of a server.
	sshUser = "root"
	sshPort = "22"
)

// ports of nodes that a run talks to: Talos' API, and that of Kubernetes.
var ports = []string{"50000", "6443"}

// Dial makes it a transport.
func (d dialer) Dial(ctx context.Context, address string) (net.Conn, error) {
	return d.dial(ctx, address)
}

type dialer struct{ dial Dialer }

// transport leads to the nodes: from this machine, or through the server that
// the tree names.
func (s *Session) transport(o cloudplan.Observed) (reach.Transport, error) {
	jump := s.env.Infrastructure.Access.Jump
	if jump == "" || s.jump != nil {
		if s.jump != nil {
			return s.jump, nil
		}
		return dialer{s.nodes.Dial}, nil
	}
	object := "server " + jump
	i := slices.IndexFunc(o.Servers, func(have cloudplan.Server) bool { return have.Name == jump && s.owns(have) })
	want := slices.IndexFunc(s.env.Infrastructure.Servers, func(w schemas.InfraServer) bool { return w.Name == jump })
	if i < 0 || want < 0 || publicAddress(o.Servers[i]) == "" {
		return nil, diag.On(object, "the way to the nodes leads through it, and it is not there, or has no public address").
			WithHint("apply the infrastructure first").WithCode(diag.Remote)
	}
	if s.nodes.Signers == nil {
		return nil, diag.On(object, "the way to the nodes leads through it, and there is no SSH key to log in with").
			WithHint("load one into your agent with ssh-add, or name its file with --ssh-key").WithCode(diag.Secrets)
	}
	j, err := reach.NewJump(reach.Bastion{
		Name: jump, Address: net.JoinHostPort(publicAddress(o.Servers[i]), sshPort), User: sshUser,
		HostKey: s.env.Infrastructure.Servers[want].HostKey, Signers: s.nodes.Signers,
	}, dialer{s.nodes.Dial})
	s.jump = j
	return j, err
}

// letIn lets the addresses of whoever runs this in, as long as the session
// lives, where nobody else may come in. Without servers there is nothing to be
// let in to.
func (s *Session) letIn(ctx context.Context, o cloudplan.Observed) error {
	if s.access != nil || s.project == nil || len(o.Servers) == 0 || s.nodes.Own == nil {
		return nil
	}
	a := s.env.Infrastructure.Access
	open := cloud.Access{Ports: ports, Servers: s.nodeSelector(), Locked: s.lock != nil}
	if a.Jump != "" {
		open.Ports, open.Servers = []string{sshPort}, s.jumpSelector()
	}
	if a.Jump != "" && !a.JumpSession || a.Jump == "" && (a.Mode != accessPublic || !a.CurrentIPv4 && !a.CurrentIPv6) {
		return nil
	}
	all := s.nodes.Own(ctx)
	for _, own := range all {
		if a.Jump != "" || own.Is4() && a.CurrentIPv4 || own.Is6() && a.CurrentIPv6 {
			open.From = append(open.From, netip.PrefixFrom(own, own.BitLen()))
		}
	}
	if len(open.From) == 0 {
		why := "your public address is not known"
		if len(all) > 0 {
			why = fmt.Sprintf("your public address is %s, and the cluster lets in the other IP version only", all[0])
		}
		return diag.On("session access to the cluster "+s.env.Infrastructure.Cluster, "%s, so you cannot be let in", why).
			WithHint("name ranges in hetzner.firewall.apiSource of cluster.yaml, render, and apply the infrastructure: --stage infrastructure").WithCode(diag.Remote)
	}
	var err error
	s.access, err = s.project.OpenSession(ctx, s.run(s.nodes.Owner), open)
	return err
}

// nodeSelector selects the nodes of the cluster, jumpSelector the server that
// leads to them.
func (s *Session) nodeSelector() string {
	return schemas.LabelCluster + "=" + s.env.Infrastructure.Cluster + "," +
		schemas.LabelRole + " in (" + schemas.RoleControlPlane + "," + schemas.RoleWorker + ")"
}

func (s *Session) jumpSelector() string {
	return schemas.LabelCluster + "=" + s.env.Infrastructure.Cluster + "," + schemas.LabelRole + "=" + schemas.RoleNATGateway
}

// Close takes away what let whoever runs this in, also after an interrupt.
func (s *Session) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	var problems diag.List
	s.clients.Close()
	if s.jump != nil {
		problems.AddErr(s.jump.Close())
		s.jump = nil
	}
	if s.access != nil {
		problems.AddErr(s.access.Close(ctx))
		s.access = nil
	}
	return problems.Err()
}

// credentials signs an administrator of Talos, and again before that expires.
func (s *Session) credentials(ctx context.Context) (node.Credentials, error) {
	s.signing.Lock()
	defer s.signing.Unlock()
	now := s.clock.Now()
	if now.Before(s.signed.renew) {
		return s.signed.credentials, nil
	}
	authorities, err := s.env.authorities(ctx)
	if err != nil {
		return node.Credentials{}, err
	}
	id, err := authorities.Talos.Sign(access.Subject{Groups: []string{access.RoleAdmin}}, access.Ed25519, clientLifetime, now, s.builder.Random)
	if err != nil {
		return node.Credentials{}, err
	}
	s.env.masker.Add(id.Key)
	s.signed.credentials = node.Credentials{Authority: authorities.Talos.PEM(), Certificate: id.Certificate, Key: id.Key}
	s.signed.renew = now.Add(id.Expires.Sub(now) * 2 / 3)
	return s.signed.credentials, nil
}

// SSHAgentKeys are the keys of the SSH agent that listens on a socket.
func SSHAgentKeys(socket string) Signers { return reach.AgentKeys(socket) }

// SSHFileKeys are private keys in files, by their names and contents. If one has
// a passphrase, ask is called for it.
func SSHFileKeys(names []string, contents [][]byte, ask func(prompt string) (string, error)) Signers {
	return reach.FileKeys(names, contents, ask)
}
