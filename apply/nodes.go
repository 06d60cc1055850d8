package apply

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node/reach"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Signers are the SSH keys of whoever runs apply.
type Signers = reach.Signers

// Nodes is how the nodes of a cluster are reached. The zero value leaves them
// out.
type Nodes struct {
	// Opens connections from this machine, or through a proxy.
	Dial Dialer
	// Keys to log in with on the server that leads to nodes without public
	// addresses; may be nil where there is none.
	Signers Signers
	// Whether they run Kubernetes although Hetzner is simulated.
	Kubernetes bool
	// Where nodes are instead of where the tree and Hetzner say, by name.
	Endpoints map[string]string
	// Fingerprints of the keys that machines show in maintenance mode, by the names
	// of their nodes: these are taken for new ones, and no others are.
	Fingerprints map[string]string
	// Where it is kept which machines that exist already were configured; nil: for
	// as long as the session.
	Facts FactsFile
	// The public addresses of whoever runs this, to be let in; may be nil.
	Own func(context.Context) []netip.Addr
	// Who runs this, for others who find the session access.
	Owner Owner
	// Keeps snapshots of etcd, which are encrypted for the operators.
	Keep Keep
	// What a lost etcd is made from; nil: an etcd that is made is empty.
	Recovery *Recovery
}

// ParseEndpoints reads node=address.
func ParseEndpoints(texts []string) (map[string]string, error) {
	endpoints := map[string]string{}
	for _, text := range texts {
		name, address, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, diag.On("--endpoints", "%q is not a node and its address", text).
				WithHint("such as prod-worker-1=203.0.113.7").WithCode(diag.Usage)
		}
		if err := checkEndpoint(address); err != nil {
			return nil, err
		}
		endpoints[name] = address
	}
	return endpoints, nil
}

// ParseFingerprints reads node=fingerprint.
func ParseFingerprints(texts []string) (map[string]string, error) {
	fingerprints := map[string]string{}
	for _, text := range texts {
		name, fingerprint, ok := strings.Cut(text, "=")
		if !ok || name == "" || !schemas.IsFingerprint(fingerprint) {
			return nil, diag.On("--fingerprint", "%q is not a node and the fingerprint of its key", text).
				WithHint("such as prod-worker-1=cBoPHCpSUqN0nBwHaWuFsj2+MCnsYMvFsALAmB4pB0k=; the console of a machine in maintenance mode shows it").WithCode(diag.Usage)
		}
		fingerprints[name] = fingerprint
	}
	return fingerprints, nil
}

// rolesOfNodes are the roles of servers and machines, in the words of plans.
var rolesOfNodes = map[string]string{schemas.RoleControlPlane: nodeplan.ControlPlane, schemas.RoleWorker: nodeplan.Worker}

// machines are the nodes of the tree, and others that have the labels of the
// cluster. making are the servers that this run is going to make.
func (s *Session) machines(o cloudplan.Observed, making []string) []nodes.Machine {
	found := s.static()
	infra := s.env.Infrastructure
	for _, want := range infra.Servers {
		role := rolesOfNodes[want.Role]
		if role == "" {
			continue
		}
		m := nodes.Machine{Name: want.Name, Role: role, InTree: true, New: slices.Contains(making, want.Name)}
		i := slices.IndexFunc(o.Servers, func(have cloudplan.Server) bool { return have.Name == want.Name && s.owns(have) })
		if i >= 0 {
			s.place(&m, o.Servers[i])
		} else {
			m.Unknown = "there is no server"
		}
		found = append(found, m)
	}
	for _, have := range o.Servers {
		role := rolesOfNodes[have.Labels[schemas.LabelRole]]
		known := slices.ContainsFunc(found, func(m nodes.Machine) bool { return m.Name == have.Name })
		if role == "" || known || !s.owns(have) {
			continue
		}
		m := nodes.Machine{Name: have.Name, Role: role}
		s.place(&m, have)
		found = append(found, m)
	}
	for i := range found {
		found[i].Calls = &s.calls.nodes
		found[i].Consent.Fingerprint = s.nodes.Fingerprints[found[i].Name]
		if address := s.nodes.Endpoints[found[i].Name]; address != "" {
			found[i].Address, found[i].BootAddress = address, ""
		}
	}
	return found
}

// owns reports whether a server is one that apply made for the cluster. Those of
// its autoscaler come and go by themselves.
func (s *Session) owns(server cloudplan.Server) bool {
	return server.Labels[schemas.LabelCluster] == s.env.Infrastructure.Cluster &&
		server.Labels[schemas.LabelManagedBy] == schemas.ManagedBy && server.Labels[schemas.LabelNodeGroup] == ""
}

// statusRunning is Hetzner's status of a server that runs.
const statusRunning = "running"

// place says where a server is, by the way that leads there.
func (s *Session) place(m *nodes.Machine, have cloudplan.Server) {
	m.ID = fmt.Sprint(have.ID)
	if have.Status != statusRunning {
		m.Server = have.Status
	}
	if s.servers != nil {
		s.servers.see(have)
	}
	// Whoever comes through the gateway is in the private network; nodes may have no
	// other address then, be the APIs public or not.
	if access := s.env.Infrastructure.Access; access.Mode == accessPublic && access.Jump == "" {
		m.Address = publicAddress(have)
		m.Unknown = "it has no public address"
		return
	}
	for _, n := range have.PrivateNets {
		m.Address = cmp.Or(m.Address, n.IP)
	}
	m.Unknown = "it has no private address"
}

// publicAddress is the public address of a server, of IPv6 the first in its
// network; empty if it has none.
func publicAddress(s cloudplan.Server) string {
	if s.PublicIPv4.IP != "" {
		return s.PublicIPv4.IP
	}
	if network, err := netip.ParsePrefix(s.PublicIPv6.IP); err == nil {
		return network.Masked().Addr().Next().String()
	}
	return ""
}

// static are the machines that exist already.
func (s *Session) static() (found []nodes.Machine) {
	for _, m := range s.env.Infrastructure.Machines {
		address, _, _ := strings.Cut(m.Address, "/")
		found = append(found, nodes.Machine{
			Name: m.Name, Role: rolesOfNodes[m.Role], InTree: true, Address: cmp.Or(address, m.BootAddress), BootAddress: m.BootAddress,
			Match: m.Match, InstallDisk: m.InstallDisk,
			ID: cmp.Or(m.Match.UUID, m.Match.Serial, m.Match.MAC), Unknown: "the tree names no address",
		})
	}
	return found
}

// desiredNodes decrypts the configurations of the tree, once.
func (s *Session) desiredNodes(ctx context.Context) (nodeplan.Desired, error) {
	if s.desired != nil {
		return *s.desired, nil
	}
	d := nodeplan.Desired{Cluster: s.env.Infrastructure.Cluster}
	var problems diag.List
	for _, m := range s.machines(cloudplan.Observed{}, nil) {
		file := nodeFile(m.Name)
		text, err := s.env.Decrypt(ctx, file)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		config, err := nodeconfig.Parse(s.env.path(file), []byte(text.Reveal()))
		problems.AddErr(err)
		d.Nodes = append(d.Nodes, nodeplan.Want{Name: m.Name, Role: m.Role, Config: config})
	}
	if err := problems.Err(); err != nil {
		return nodeplan.Desired{}, err
	}
	s.desired = &d
	return d, nil
}

func nodeFile(name string) string { return "nodes/" + name + ".yaml" }

// nodeFiles stands for the files of nodes, as they are in Git: encrypted.
func (e *Environment) nodeFiles() string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(e.files)) {
		if strings.HasPrefix(name, "nodes/") {
			_, _ = fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(e.files[name]))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
