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
	"time"
)

// Node is one node.
type Node struct {
	Name    string
	Address netip.Addr
	MAC     string // of its only device

	process *process
}

// description is what testenv/talosnode/node/init reads.
type description struct {
	Hostname string
	Address  string
	Gateway  string
	Mount    string
	Binds    map[string]string
	Files    map[string]string
	Env      []string
}

const apiPort = "50000"

func (n *Node) start(c *Cluster) error {
	ready, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	defer tell.Close()

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

	if err := c.network.connect(context.Background(), n.process.pid(), n.MAC); err != nil {
		return err
	}

	files, err := c.bed.files()
	if err != nil {
		return err
	}

	files["etc/hostname"] = n.Name + "\n"
	files["etc/hosts"] = "127.0.0.1 localhost\n"
	files["etc/os-release"] = "NAME=Talos\nID=talos\n"
	files["usr/etc/in-container"] = "true\n"

	return json.NewEncoder(tell).Encode(description{
		Hostname: n.Name,
		Address:  n.Address.String() + "/24",
		Gateway:  c.network.host.String(),
		Mount:    filepath.Join(c.claim.folder, mountPoint),
		Binds:    c.bed.binds(),
		Files:    files,
		Env:      []string{"PLATFORM=container", "TALOSSKU=2CPU-2048RAM", "HOME=/"},
	})
}

// Stop ends the node at once, as when its power is cut. What it has stored is
// gone.
func (n *Node) Stop() error {
	if n.process == nil {
		return nil
	}

	return n.process.stop()
}

// waitAPI waits until the node's API answers.
func (n *Node) waitAPI(ctx context.Context) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()

	// Nothing can be verified before the node has a configuration.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}

	for {
		connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(n.Address.String(), apiPort))
		if err == nil {
			return connection.Close()
		}

		select {
		case <-ticker.C:
		case <-n.process.exited:
			return fmt.Errorf("the node has ended: %w", errors.Join(n.process.err, err))
		case <-ctx.Done():
			return fmt.Errorf("the API does not answer: %w", err)
		}
	}
}
