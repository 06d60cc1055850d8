//go:build linux

package talosenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/talosgen/talosgen/testenv/patience"
)

// sshPort is where the bastion listens, on the host's side.
const sshPort = 22

// bastionFolder has the bastion's /run, in the folder of the claim.
const bastionFolder = "bastion"

// bastionFiles are what sshd needs besides keys. It shall let in whom the test
// says, whatever users the host has.
var bastionFiles = map[string]string{
	"passwd": "root:x:0:0:root:/:/bin/sh\nsshd:x:74:74:sshd:/run/sshd:/bin/false\n",
	"shadow": "root:*:19000::::::\nsshd:*:19000::::::\n",
	"sshd_config": `HostKey /run/host_key
AuthorizedKeysFile /run/authorized_keys
AuthenticationMethods publickey
AllowTcpForwarding local
PidFile none
StrictModes no
UsePAM no
`,
}

// bastionScript gives sshd a /run and users of its own, and the network of the
// nodes. It is in a mount namespace of its own. Its arguments are the folder,
// and the command that enters the network and runs sshd.
const bastionScript = `set -e
mount --make-rprivate /
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/shadow" /etc/shadow
mount --bind "$1" /run
shift
exec "$@"`

// Bastion is an SSH server between this machine and the nodes. It lets in root.
type Bastion struct {
	Address    netip.Addr // of [Cluster.Public]
	HostKey    string     // private, in the format of OpenSSH
	Authorized []string   // public keys that it lets in, as in an authorized_keys file
}

// Public is the network on which this machine reaches a bastion. The first
// address is this machine's.
func (c *Cluster) Public() netip.Prefix {
	return outside(c.claim.octet).Masked()
}

// StartBastion starts Debian's SSH server, and waits until it listens, at port
// 22. There may be one at a time.
func (c *Cluster) StartBastion(ctx context.Context, b Bastion) error {
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		return err
	}

	address := netip.AddrPortFrom(b.Address, sshPort)

	if err := c.network.inside(ctx, fmt.Sprintf("addr replace %s/%d dev host", b.Address, c.Public().Bits())); err != nil {
		return err
	}

	folder, err := c.layOutBastion(b)
	if err != nil {
		return err
	}

	command := append([]string{"sh", "-c", bastionScript, "sh", folder}, c.network.enter()...)
	command = append(command, sshd, "-D", "-e", "-f", "/run/sshd_config",
		"-o", fmt.Sprintf("ListenAddress=%s", address))

	c.bastion, err = launch{
		command:    exec.Command(command[0], command[1:]...),
		namespaces: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, // its sessions end with it
		cgroup:     filepath.Join(c.claim.cgroup, "bastion"),
		log:        filepath.Join(c.logs, "bastion.log"),
	}.start()
	if err != nil {
		return err
	}

	ctx, cancel := patience.Context(ctx, startWithin)
	defer cancel()

	return c.bastion.waitPort(ctx, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address.String())
	})
}

// layOutBastion writes the files of the bastion.
func (c *Cluster) layOutBastion(b Bastion) (folder string, err error) {
	folder = filepath.Join(c.claim.folder, bastionFolder)
	// An empty folder that sshd goes to before it trusts anybody.
	if err := os.MkdirAll(filepath.Join(folder, "sshd"), 0o755); err != nil {
		return "", err
	}

	files := map[string]string{
		"host_key":        b.HostKey,
		"authorized_keys": strings.Join(b.Authorized, "\n") + "\n",
	}
	for name, text := range bastionFiles {
		files[name] = text
	}

	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}

	// sshd asks for these before and after it gives up its rights.
	return folder, os.Chmod(filepath.Join(folder, "passwd"), 0o644)
}

// StopBastion ends the SSH server and all that goes through it.
func (c *Cluster) StopBastion() error {
	if c.bastion == nil {
		return nil
	}

	stopped := c.bastion
	c.bastion = nil

	return stopped.stop()
}

// waitPort waits until a process accepts connections.
func (p *process) waitPort(ctx context.Context, dial func(context.Context) (net.Conn, error)) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()

	for {
		connection, err := dial(ctx)
		if err == nil {
			return connection.Close()
		}

		select {
		case <-ticker.C:
		case <-p.exited:
			return fmt.Errorf("%s has ended: %w; see %s", filepath.Base(p.command.Path), errors.Join(p.err, err), p.log)
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w; see %s", err, p.log)
		}
	}
}
