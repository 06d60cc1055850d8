//go:build linux

package talosenv

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Node is one node.
type Node struct {
	Name    string
	Address netip.Addr
	MAC     string // of its only device

	runs system
	disk string // folder with what it stores; empty: memory

	process *process
	network *network
	port    string // of the network; empty once the node was stopped
}

// description is what testenv/talosnode/node/init reads.
type description struct {
	Hostname string
	Address  string
	Gateway  string
	Mount    string
	Binds    map[string]string
	Files    map[string]string
	Folders  map[string]string
	BootID   string
	Env      []string
}

const apiPort = 50000

func (n *Node) start(c *Cluster) error {
	ready, notify, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	defer notify.Close()

	command := exec.Command(filepath.Join(c.bed.node, "init"))
	command.Env = []string{"PATH=" + os.Getenv("PATH")}
	command.ExtraFiles = []*os.File{ready}

	n.process, err = launch{
		command: command,
		namespaces: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		cgroup: filepath.Join(c.claim.cgroup, n.Name),
		log:    filepath.Join(c.logs, n.Name+".log"),
	}.start()
	if err != nil {
		return err
	}

	n.network = c.network

	if n.port, err = c.network.connect(context.Background(), n.process.pid(), n.MAC); err != nil {
		return err
	}

	bed := c.bed.of(n.runs.release)

	files, err := bed.files()
	if err != nil {
		return err
	}

	folders, boot, err := n.stored()
	if err != nil {
		return err
	}

	files["etc/extensions.yaml"] = n.runs.extensions()
	files["etc/hostname"] = n.Name + "\n"
	files["etc/hosts"] = "127.0.0.1 localhost\n"
	files["etc/os-release"] = fmt.Sprintf("NAME=\"Talos\"\nID=talos\nVERSION_ID=%[1]s\nPRETTY_NAME=\"Talos (%[1]s)\"\n", talosVersions[n.runs.release])
	files["usr/etc/in-container"] = "true\n"

	return json.NewEncoder(notify).Encode(description{
		Hostname: n.Name,
		Address:  netip.PrefixFrom(n.Address, c.network.nodes.Bits()).String(),
		Gateway:  c.Gateway.String(),
		Mount:    filepath.Join(c.claim.folder, mountPoint),
		Binds:    bed.binds(),
		Files:    files,
		Folders:  folders,
		BootID:   boot,
		Env:      []string{"PLATFORM=container", "TALOSSKU=2CPU-2048RAM", "HOME=/"},
	})
}

// Stopped reports whether the node was stopped.
func (n *Node) Stopped() bool { return n.port == "" }

// Stop ends the node at once, as when its power is cut. What it has stored is
// gone, unless it is on a disk.
func (n *Node) Stop() error {
	if n.process == nil {
		return nil
	}

	err := n.process.stop()

	if n.port != "" {
		err = errors.Join(err, n.network.disconnect(context.Background(), n.port))
		n.port = ""
	}

	return err
}

// waitAPI waits until the node's API answers.
func (n *Node) waitAPI(ctx context.Context, by *network) error {
	address := netip.AddrPortFrom(n.Address, apiPort).String()

	return n.process.waitPort(ctx, func(ctx context.Context) (net.Conn, error) {
		connection, err := by.dial(ctx, address)
		if err != nil {
			return nil, err
		}

		// Nothing can be verified before the node has a configuration.
		secured := tls.Client(connection, &tls.Config{InsecureSkipVerify: true})
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, connection.Close())
		}

		return secured, nil
	})
}
