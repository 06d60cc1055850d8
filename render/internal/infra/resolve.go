package infra

import (
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/schemas"
)

// Input is the topology of a cluster, and what it does not say itself.
type Input struct {
	Config *config.Config
	// Facts are the public addresses that are known; none if it is nil.
	Facts *config.Facts
	// Schematic tells the id of the schematic of an image, and the schematic
	// itself; that is empty if only its id is known.
	Schematic func(schemas.NodeImage) (id, text string)
	// HostKey is the public SSH host key of the NAT gateway, as in an
	// authorized_keys file.
	HostKey string
}

// Resolve computes the desired state of Hetzner Cloud, or the list of the
// machines of a static environment. All problems are reported together.
func Resolve(in Input) (*schemas.Infrastructure, error) {
	r := &resolver{Input: in, c: in.Config, out: &schemas.Infrastructure{
		APIVersion: schemas.InfrastructureVersion, Cluster: in.Config.ClusterName, Provider: in.Config.Provider,
		Access:  schemas.InfraAccess{Mode: "direct"},
		Reboots: schemas.InfraReboots{Mode: unusual(in.Config.Talos.Reboot.Mode), Upgrade: unusual(in.Config.Talos.Upgrade.RebootMode)},
	}}
	if in.Config.Provider == schemas.Static {
		serverResolver{r}.machines()
	} else {
		r.hetzner()
	}
	apiResolver{r}.api()
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return r.out, nil
}

// unusual is a way to reboot, if it is not Talos' own.
func unusual(mode string) string { return strings.TrimPrefix(mode, "default") }

type resolver struct {
	Input
	c        *config.Config
	out      *schemas.Infrastructure
	problems diag.List
}

func (r *resolver) hetzner() {
	f := r.c.Hetzner.Firewall
	r.out.KeepOthers = r.c.Hetzner.Adopted.Keep
	r.out.Access = schemas.InfraAccess{Mode: r.c.Access, CurrentIPv4: *f.UseCurrentIPv4, CurrentIPv6: *f.UseCurrentIPv6}
	networkResolver{r}.network()
	networkResolver{r}.firewalls()
	balancerResolver{r}.apiBalancer()
	balancerResolver{r}.ingressBalancers()
	networkResolver{r}.floatingIP()
	imageResolver{r}.images()
	serverResolver{r}.servers()
	networkResolver{r}.natGateway()
	networkResolver{r}.recordsFirewall()
	serverResolver{r}.autoscaler()
	recordResolver{r}.dns()
}

// fail reports a problem at an option of cluster.yaml, written with dots.
func (r *resolver) fail(option, hint, message string, args ...any) {
	r.problems.Add(diag.New(r.c.Near(option), message, args...).WithHint("%s", hint))
}

// machines lists the machines of a static environment.
func (r serverResolver) machines() {
	for _, n := range r.c.Resolve() {
		r.out.Machines = append(r.out.Machines, machineOf(n))
	}
}

// machineOf is a machine that exists already.
func machineOf(n config.Node) schemas.InfraMachine {
	m := schemas.InfraMachine{Name: n.Name, Role: n.Role, Pool: n.Pool, Match: schemas.InfraMatch(n.Match), InstallDisk: n.InstallDisk, RobotServer: int64(n.RobotServer)}
	if n.BootAddress.IsValid() {
		m.BootAddress = n.BootAddress.String()
	}
	if n.Address.IsValid() {
		m.Address = n.Address.String()
	}
	if n.Dedicated {
		m.PrivateIP = n.PrivateIP.String()
	}
	return m
}
