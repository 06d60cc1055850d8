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
	"testing"
	"time"
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

// StartBastion starts Debian's SSH server between this machine and the nodes,
// with a host key in the format of OpenSSH's private key files. It lets in root
// with one of the keys, lines of an authorized_keys file. It returns where it
// listens, once it does.
func (c *Cluster) StartBastion(t testing.TB, hostKey string, authorized ...string) netip.AddrPort {
	t.Helper()

	address := netip.AddrPortFrom(c.network.public(), sshPort)

	if err := c.startBastion(t.Context(), address, hostKey, authorized); err != nil {
		t.Fatal(err)
	}

	return address
}

func (c *Cluster) startBastion(ctx context.Context, address netip.AddrPort, hostKey string, authorized []string) error {
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		return err
	}

	folder, err := c.layOutBastion(hostKey, authorized)
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

	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()

	return c.bastion.waitPort(ctx, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address.String())
	})
}

// layOutBastion writes the files of the bastion.
func (c *Cluster) layOutBastion(hostKey string, authorized []string) (folder string, err error) {
	folder = filepath.Join(c.claim.folder, bastionFolder)
	// An empty folder that sshd goes to before it trusts anybody.
	if err := os.MkdirAll(filepath.Join(folder, "sshd"), 0o755); err != nil {
		return "", err
	}

	files := map[string]string{
		"host_key":        hostKey,
		"authorized_keys": strings.Join(authorized, "\n") + "\n",
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
