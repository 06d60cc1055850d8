//go:build linux

package talosenv

import (
	"bufio"
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sshkey"
)

// victimVariable says how the test process that TestVictim is in ends.
const victimVariable = "TALOSGEN_TESTENV_VICTIM"

// TestVictim is what other tests here run in a process of its own.
func TestVictim(t *testing.T) {
	how := os.Getenv(victimVariable)
	if how == "" {
		t.Skip("run by other tests")
	}

	c := Start(t, Options{ControlPlanes: 1, Bastion: how == "bastion"})
	address := netip.AddrPortFrom(c.ControlPlanes[0].Address, apiPort)

	if how == "bastion" {
		address = netip.AddrPortFrom(c.Public().Addr().Next().Next(), sshPort)
		if err := c.StartBastion(t.Context(), Bastion{Address: address.Addr(), HostKey: newHostKey(t)}); err != nil {
			t.Fatal(err)
		}
	}

	// To standard output, which the parent reads line by line.
	if _, err := io.WriteString(os.Stdout, address.String()+"\n"); err != nil {
		t.Fatal(err)
	}

	if how == "panic" {
		panic("as a test may")
	}

	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Fatal(err)
	}
}

// victim is such a process.
type victim struct {
	command *exec.Cmd
	stdin   io.Closer
	lines   *bufio.Scanner
}

func startVictim(ctx context.Context, t *testing.T, how string) *victim {
	t.Helper()

	command := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestVictim$")
	command.Env = append(os.Environ(), victimVariable+"="+how)

	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := command.Start(); err != nil {
		t.Fatal(err)
	}

	return &victim{command: command, stdin: stdin, lines: bufio.NewScanner(stdout)}
}

// address waits until the victim's node or bastion runs.
func (v *victim) address(t *testing.T) netip.AddrPort {
	t.Helper()

	for v.lines.Scan() {
		if address, err := netip.ParseAddrPort(v.lines.Text()); err == nil {
			return address
		}

		t.Log(v.lines.Text())
	}

	t.Fatal("the process has ended before its node ran")

	return netip.AddrPort{}
}

// TestKilled kills a test at many moments. The next one clears away what is
// left, and starts.
func TestKilled(t *testing.T) {
	findBed(t, Options{})

	for _, after := range []time.Duration{
		20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
		400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond,
	} {
		t.Run(after.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()

			v := startVictim(ctx, t, "wait")
			if err := v.command.Wait(); err == nil {
				t.Fatal("it has not been killed")
			}

			Start(t, Options{})
			checkNothingLeft(t)
		})
	}

	Start(t, Options{ControlPlanes: 1})
}

// TestKilledBastion kills a test whose nodes are behind a bastion that somebody
// is connected to.
func TestKilledBastion(t *testing.T) {
	findBed(t, Options{Bastion: true})

	v := startVictim(t.Context(), t, "bastion")
	address := v.address(t)

	session, err := net.Dial("tcp", address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()

	if err := v.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	if err := v.command.Wait(); err == nil {
		t.Fatal("it has not been killed")
	}

	Start(t, Options{})
	checkNothingLeft(t)
}

// newHostKey is a key for a bastion.
func newHostKey(t *testing.T) string {
	t.Helper()

	key, err := sshkey.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	return key.Reveal()
}

// TestPanic ends a test in the worst way that a test itself can.
func TestPanic(t *testing.T) {
	findBed(t, Options{})

	v := startVictim(t.Context(), t, "panic")
	v.address(t)

	if err := v.command.Wait(); err == nil {
		t.Fatal("a panic has gone unnoticed")
	}

	Start(t, Options{})
	checkNothingLeft(t)
}

// TestTwoAtOnce starts nodes while another process has some.
func TestTwoAtOnce(t *testing.T) {
	findBed(t, Options{})

	v := startVictim(t.Context(), t, "wait")
	c := Start(t, Options{ControlPlanes: 1})
	other := v.address(t)

	if own := c.ControlPlanes[0].Address; own == other.Addr() {
		t.Fatalf("both have %s", own)
	}

	Start(t, Options{}) // clears away nothing that lives

	if !answers(other) {
		t.Error("the other one's node does not answer any more")
	}

	if err := v.stdin.Close(); err != nil {
		t.Fatal(err)
	}

	if err := v.command.Wait(); err != nil {
		t.Errorf("the other one fails: %v", err)
	}

	checkNothingLeft(t)
}

// answers tells whether something listens at an address.
func answers(address netip.AddrPort) bool {
	connection, err := net.DialTimeout("tcp", address.String(), 2*time.Second)
	if err != nil {
		return false
	}

	return connection.Close() == nil
}
