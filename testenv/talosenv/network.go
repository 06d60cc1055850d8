//go:build linux

package talosenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// network is a bridge in a network namespace of its own, where no firewall of
// the host applies, and a cable from there to the host. The namespace is that
// of the discovery service, and goes away with it.
//
// The cable ends on the bridge, so that the host is on the nodes' network. With
// a bastion it ends beside it, on a network of two: the host reaches the
// namespace, and only that reaches the nodes.
type network struct {
	octet   int
	nodes   netip.Prefix
	bastion bool
	service *process
	ports   int
}

// discoveryPort is where the discovery service listens, on all addresses.
const discoveryPort = 3000

// startNetwork starts the discovery service and lays out the network around
// it.
func startNetwork(ctx context.Context, b bed, c *claim, o Options) (*network, error) {
	n := &network{octet: c.octet, nodes: subnet(c.octet), bastion: o.Bastion}
	if o.Network.IsValid() {
		n.nodes = o.Network
	}

	service, err := launch{
		command:    exec.Command(b.discovery, fmt.Sprintf(":%d", discoveryPort)),
		namespaces: syscall.CLONE_NEWNET,
		cgroup:     filepath.Join(c.cgroup, "discovery"),
		log:        filepath.Join(c.logs, "discovery.log"),
	}.start()
	if err != nil {
		return nil, err
	}

	n.service = service

	if err := n.layOut(ctx); err != nil {
		return nil, errors.Join(err, service.stop())
	}

	return n, nil
}

func (n *network) layOut(ctx context.Context) error {
	err := n.inside(ctx,
		"link set lo up",
		"link add br0 type bridge",
		fmt.Sprintf("addr add %s/%d dev br0", n.discovery(), n.nodes.Bits()),
		"link set br0 up",
	)
	if err != nil {
		return err
	}

	err = ip(ctx, nil, fmt.Sprintf("link add %s type veth peer name host netns %d", device(n.octet), n.service.pid()))
	if err != nil {
		return err
	}

	host, inside := netip.PrefixFrom(n.gateway(), n.nodes.Bits()), []string{"link set host master br0 up"}
	if n.bastion {
		host = outside(n.octet)
		inside = []string{
			fmt.Sprintf("addr add %s/%d dev br0", n.gateway(), n.nodes.Bits()),
			"link set host up",
		}
	}

	if err := n.inside(ctx, inside...); err != nil {
		return err
	}

	return ip(ctx, nil,
		fmt.Sprintf("addr add %s dev %s", host, device(n.octet)),
		fmt.Sprintf("link set %s up", device(n.octet)),
	)
}

// connect gives a process that has a network namespace of its own a device
// eth0 on the bridge, and returns the name of the port there.
func (n *network) connect(ctx context.Context, pid int, mac string) (port string, err error) {
	n.ports++
	port = fmt.Sprintf("port%d", n.ports)

	return port, n.inside(ctx,
		fmt.Sprintf("link add %s type veth peer name eth0 address %s netns %d", port, mac, pid),
		fmt.Sprintf("link set %s master br0 up", port),
	)
}

// disconnect removes a port. The kernel does so by itself when it clears away
// the node's namespace, but that may take a minute, and as long the bridge sends
// there what is meant for another node with the same address.
func (n *network) disconnect(ctx context.Context, port string) error {
	err := n.inside(ctx, "link del "+port)
	if err != nil && n.inside(ctx, "link show dev "+port) != nil {
		return nil // it is gone
	}

	return err
}

// gateway is the first address of the nodes' network: that of the host, or of
// the bastion.
func (n *network) gateway() netip.Addr {
	return n.nodes.Masked().Addr().Next()
}

// discovery is the address of the discovery service.
func (n *network) discovery() netip.Addr {
	return n.gateway().Next()
}

// node is the address of a node.
func (n *network) node(i int) netip.Addr {
	address := n.discovery()
	for range 8 + i {
		address = address.Next()
	}

	return address
}

// macOf is the MAC address of the node with an address.
func macOf(address netip.Addr) string {
	a := address.As4()
	return net.HardwareAddr{2, 0, a[0], a[1], a[2], a[3]}.String()
}

func (n *network) stop() error {
	return errors.Join(removeDevice(device(n.octet)), n.service.stop())
}

// enter is a command that runs another in the namespace of the bridge.
func (n *network) enter() []string {
	return []string{"nsenter", "--net=/proc/" + strconv.Itoa(n.service.pid()) + "/ns/net"}
}

// inside runs ip in the namespace of the bridge.
func (n *network) inside(ctx context.Context, lines ...string) error {
	return ip(ctx, n.enter(), lines...)
}

// device is the name of the host's end of the cable. Cgroups have it too.
func device(octet int) string {
	return fmt.Sprintf("talosgen-%d", octet)
}

// removeDevice removes a device, if it is there.
func removeDevice(name string) error {
	if _, err := net.InterfaceByName(name); err != nil {
		return nil
	}

	err := ip(context.Background(), nil, "link del "+name)
	if _, gone := net.InterfaceByName(name); gone != nil {
		return nil // the kernel was quicker
	}

	return err
}

// ip runs lines of ip, by way of another command if need be.
func ip(ctx context.Context, by []string, lines ...string) error {
	args := append(by[:len(by):len(by)], "ip", "-batch", "-")
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")

	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(lines, "; "), err, output)
	}

	return nil
}
