// Command init becomes the first process of a test node. testenv/talosenv
// starts it in namespaces of its own; it sets up the network, lays out the
// root file system, in memory unless it is told where, and goes over to machined, as Talos'
// Docker provisioner would have started it.
//
// It reads what the node is like from file descriptor 3, as JSON; the end of
// that file also says that the network device is there.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// node is what talosenv says of the node.
type node struct {
	Hostname string
	Address  string            // with prefix length
	Gateway  string            // address of the host on the bridge
	Mount    string            // an empty folder to mount the root on
	Binds    map[string]string // path in the node: file of the host, read-only
	Files    map[string]string // path in the node: text
	Folders  map[string]string // path in the node: folder of the host that it writes to
	BootID   string            // what the kernel calls this boot; empty: as the host's
	Env      []string          // of machined
}

func main() {
	// The namespaces that are unshared below are those of one thread.
	runtime.LockOSThread()

	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "init:", err)
		os.Exit(1)
	}
}

func run() error {
	var n node

	input := os.NewFile(3, "node")
	if err := json.NewDecoder(input).Decode(&n); err != nil {
		return fmt.Errorf("reading what the node is: %w", err)
	}

	if err := input.Close(); err != nil {
		return err
	}

	for _, step := range []func() error{n.network, n.root, n.enter} {
		if err := step(); err != nil {
			return err
		}
	}

	return syscall.Exec("/usr/bin/init", []string{"/usr/bin/init"}, n.Env)
}

// network gives the devices their addresses: in a container Talos takes the
// network as it is.
func (n node) network() error {
	for _, command := range []string{
		"link set lo up",
		"addr add " + n.Address + " dev eth0",
		"link set eth0 up",
		"route add default via " + n.Gateway,
	} {
		output, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", command, err, output)
		}
	}

	return syscall.Sethostname([]byte(n.Hostname))
}

// enter makes the new root the root, and lets go of the host's.
func (n node) enter() error {
	if err := os.Chdir(n.Mount); err != nil {
		return err
	}

	if err := syscall.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}

	// The old root lies on the new one, and is what "." is.
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("unmounting the host's root: %w", err)
	}

	if err := os.Chdir("/"); err != nil {
		return err
	}

	return remountReadOnly("/")
}
