//go:build linux

package talosenv

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// do calls f where the nodes are reached: here, or with a bastion on a thread
// that is in the bastion's network namespace. A socket stays in the namespace
// that it was made in, so what f leaves behind works anywhere.
func (n *network) do(f func() error) error {
	if !n.bastion {
		return f()
	}

	result := make(chan error)

	go func() {
		// The thread is never given back, and so ends with this function.
		runtime.LockOSThread()

		result <- n.enterThread(f)
	}()

	return <-result
}

func (n *network) enterThread(f func() error) error {
	namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", n.service.pid()))
	if err != nil {
		return err
	}
	defer namespace.Close()

	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering the network of the nodes: %w", err)
	}

	return f()
}

// dial connects to an address of the nodes' network.
func (n *network) dial(ctx context.Context, address string) (connection net.Conn, err error) {
	err = n.do(func() error {
		connection, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
		return err
	})

	return connection, err
}
