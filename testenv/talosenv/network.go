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
type network struct {
	octet   int
	host    netip.Addr // of this process on the network
	service *process
	ports   int
}

// discoveryPort is where the discovery service listens, on all addresses.
const discoveryPort = 3000

// startNetwork starts the discovery service and lays out the network around
// it.
func startNetwork(ctx context.Context, b bed, c *claim, logs string) (*network, error) {
	n := &network{octet: c.octet, host: addressAt(c.octet, 1)}

	service, err := launch{
		command:    exec.Command(b.discovery, fmt.Sprintf(":%d", discoveryPort)),
		namespaces: syscall.CLONE_NEWNET,
		cgroup:     filepath.Join(c.cgroup, "discovery"),
		log:        filepath.Join(logs, "discovery.log"),
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
		fmt.Sprintf("addr add %s/24 dev br0", n.discovery()),
		"link set br0 up",
	)
	if err != nil {
		return err
	}

	err = ip(ctx, nil, fmt.Sprintf("link add %s type veth peer name host netns %d", device(n.octet), n.service.pid()))
	if err != nil {
		return err
	}

	if err := n.inside(ctx, "link set host master br0 up"); err != nil {
		return err
	}

	return ip(ctx, nil,
		fmt.Sprintf("addr add %s/24 dev %s", n.host, device(n.octet)),
		fmt.Sprintf("link set %s up", device(n.octet)),
	)
}

// connect gives a process that has a network namespace of its own a device
// eth0 on the bridge.
func (n *network) connect(ctx context.Context, pid int, mac string) error {
	n.ports++
	port := fmt.Sprintf("port%d", n.ports)

	return n.inside(ctx,
		fmt.Sprintf("link add %s type veth peer name eth0 address %s netns %d", port, mac, pid),
		fmt.Sprintf("link set %s master br0 up", port),
	)
}

// discovery is the address of the discovery service.
func (n *network) discovery() netip.Addr {
	return addressAt(n.octet, 2)
}

// node is the address of a node.
func (n *network) node(i int) netip.Addr {
	return addressAt(n.octet, 10+i)
}

// macOf is the MAC address of the node with an address.
func macOf(address netip.Addr) string {
	a := address.As4()
	return net.HardwareAddr{2, 0, a[0], a[1], a[2], a[3]}.String()
}

func (n *network) stop() error {
	return errors.Join(removeDevice(device(n.octet)), n.service.stop())
}

// inside runs ip in the namespace of the bridge.
func (n *network) inside(ctx context.Context, lines ...string) error {
	return ip(ctx, []string{"nsenter", "--net", "--target", strconv.Itoa(n.service.pid())}, lines...)
}

// device is the name of the host's end of the cable. Cgroups have it too.
func device(octet int) string {
	return fmt.Sprintf("talosgen-%d", octet)
}

func addressAt(octet, host int) netip.Addr {
	return netip.AddrFrom4([4]byte{172, 30, byte(octet), byte(host)})
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
