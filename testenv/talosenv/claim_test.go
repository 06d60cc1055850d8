//go:build linux

package talosenv

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/talosgen/talosgen/testenv/internal/filelock"
)

// newState is a machine without nodes. Its cgroups are plain folders.
func newState(t *testing.T) state {
	t.Helper()

	s := state{folder: filepath.Join(t.TempDir(), "state"), cgroups: t.TempDir(), procSys: t.TempDir()}

	for _, name := range []string{"kernel/panic", "kernel/ns_last_pid", "vm/overcommit_memory", "fs/file-max"} {
		writeFile(t, filepath.Join(s.procSys, name), "1\n")
	}

	return s
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()

	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}

	return string(data)
}

func TestSysctls(t *testing.T) {
	s := newState(t)

	must := func(err error) {
		t.Helper()

		if err != nil {
			t.Fatal(err)
		}
	}

	must(os.MkdirAll(s.folder, 0o755))
	must(s.saveSysctls())

	panics := filepath.Join(s.procSys, "kernel/panic")
	pid := filepath.Join(s.procSys, "kernel/ns_last_pid")

	writeFile(t, panics, "10\n")
	writeFile(t, pid, "2\n")
	must(s.saveSysctls()) // a second cluster must not take this for the host's
	must(s.restoreSysctls())

	if got := readFile(t, panics); got != "1\n" {
		t.Errorf("kernel.panic is %q", got)
	}

	if got := readFile(t, pid); got != "2\n" {
		t.Errorf("what changes by itself was written: %q", got)
	}

	writeFile(t, panics, "5\n")
	must(s.restoreSysctls()) // nothing is saved any more

	if got := readFile(t, panics); got != "5\n" {
		t.Errorf("restored twice: %q", got)
	}
}

// TestReap leaves alone what is locked, and removes the rest, also half of it.
func TestReap(t *testing.T) {
	s := newState(t)
	logs := filepath.Join(t.TempDir(), logsPrefix+"1")
	foreign := t.TempDir()

	writeFile(t, filepath.Join(logs, "cp-1.log"), "")
	writeFile(t, filepath.Join(s.of(3), lockFile), "")
	writeFile(t, filepath.Join(s.of(4), lockFile), "")
	writeFile(t, filepath.Join(s.of(5), mountPoint, "file"), "")
	writeFile(t, filepath.Join(s.folder, "other", "file"), "")

	for octet, target := range map[int]string{3: logs, 5: foreign} {
		if err := os.Symlink(target, filepath.Join(s.of(octet), logsLink)); err != nil {
			t.Fatal(err)
		}
	}

	held, err := filelock.Wait(filepath.Join(s.of(4), lockFile))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()

	if err := s.reap(); err != nil {
		t.Fatal(err)
	}

	octets, err := s.octets()
	if err != nil || len(octets) != 1 || octets[0] != 4 {
		t.Errorf("left are %v, %v; want 4, whose test runs", octets, err)
	}

	if _, err := os.Stat(logs); err == nil {
		t.Error("the logs are left")
	}

	for _, name := range []string{foreign, filepath.Join(s.folder, "other", "file")} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("what is not ours was removed: %v", err)
		}
	}
}

func TestFreeOctet(t *testing.T) {
	s := newState(t)
	writeFile(t, filepath.Join(s.of(0), lockFile), "")

	octet, err := s.freeOctet()
	if err != nil || octet == 0 {
		t.Errorf("network %d, %v", octet, err)
	}
}

func TestOverlaps(t *testing.T) {
	for address, want := range map[string]bool{
		"172.30.7.1/24": true,
		"172.30.0.1/16": true,
		"172.30.8.1/24": false,
		"10.0.0.1/8":    false,
		"fe80::1/64":    false,
	} {
		ip, prefix, err := net.ParseCIDR(address)
		if err != nil {
			t.Fatal(err)
		}

		host := &net.IPNet{IP: ip, Mask: prefix.Mask}
		if got := overlaps(subnet(7), []net.Addr{host}); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestMAC(t *testing.T) {
	if got := macOf(netip.MustParseAddr("172.30.7.10")); got != "02:00:ac:1e:07:0a" {
		t.Error(got)
	}
}
