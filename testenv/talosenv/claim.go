//go:build linux

package talosenv

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/filelock"
)

// stateFolder says which clusters there are on this machine: one folder for
// each, named by the third octet of its network, with a file that is locked as
// long as the test that it belongs to runs. It is not kept when the machine
// starts anew, and neither is anything else of a cluster.
const stateFolder = "/run/talosgen-nodes"

const (
	lockFile   = "lock"
	logsLink   = "logs"
	mountPoint = "root"
	sysctlFile = "sysctl"
	logsPrefix = "talosgen-nodes-"
)

// claim is a cluster's place on this machine.
type claim struct {
	state  state
	octet  int
	folder string
	cgroup string
	logs   string // folder, which the test removes or keeps
	lock   *os.File
}

// state is a state folder, and where the cgroups of its clusters are.
type state struct {
	folder  string
	cgroups string
	procSys string // folder of sysctls
}

// claimNetwork takes a network that is not in use, after clearing away what
// tests that were killed have left.
func claimNetwork() (*claim, error) {
	cgroups, err := cgroupMount()
	if err != nil {
		return nil, err
	}

	return state{folder: stateFolder, cgroups: cgroups, procSys: "/proc/sys"}.claim()
}

func (s state) claim() (*claim, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()

	if err := s.reap(); err != nil {
		return nil, fmt.Errorf("clearing away what a killed test left: %w", err)
	}

	octet, err := s.freeOctet()
	if err != nil {
		return nil, err
	}

	if err := s.saveSysctls(); err != nil {
		return nil, err
	}

	c := &claim{
		state:  s,
		octet:  octet,
		folder: s.of(octet),
		cgroup: s.cgroupOf(octet),
		logs:   filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-%d", logsPrefix, octet, time.Now().UnixNano())),
	}
	if err := c.take(); err != nil {
		return nil, errors.Join(err, s.remove(octet))
	}

	return c, nil
}

// take makes what the reaper looks for before what it is to find, so that
// nothing is lost if the test is killed in between.
func (c *claim) take() error {
	if err := os.MkdirAll(filepath.Join(c.folder, mountPoint), 0o755); err != nil {
		return err
	}

	if err := os.Symlink(c.logs, filepath.Join(c.folder, logsLink)); err != nil {
		return err
	}

	lock, err := filelock.Try(filepath.Join(c.folder, lockFile))
	if err != nil {
		return err
	}

	if lock == nil {
		return fmt.Errorf("%s is taken already", c.folder)
	}

	c.lock = lock

	if err := makeCgroup(c.cgroup); err != nil {
		return err
	}

	return os.Mkdir(c.logs, 0o755)
}

// release gives the place back. The logs are the test's.
func (c *claim) release() error {
	unlock, err := c.state.lock()
	if err != nil {
		return err
	}
	defer unlock()

	if err := c.state.remove(c.octet); err != nil {
		return err
	}

	if err := c.lock.Close(); err != nil {
		return err
	}

	return c.state.restoreUnused()
}

// lock keeps others from changing the state.
func (s state) lock() (unlock func() error, err error) {
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return nil, err
	}

	file, err := filelock.Wait(filepath.Join(s.folder, lockFile))
	if err != nil {
		return nil, err
	}

	return file.Close, nil
}

// reap clears away what belongs to tests that do not run any more.
func (s state) reap() error {
	octets, err := s.octets()
	if err != nil {
		return err
	}

	for _, octet := range octets {
		lock, err := filelock.Try(filepath.Join(s.of(octet), lockFile))
		if err != nil {
			return err
		}

		if lock == nil {
			continue // its test runs
		}

		logs, err := os.Readlink(filepath.Join(s.of(octet), logsLink))
		if err == nil && strings.HasPrefix(filepath.Base(logs), logsPrefix) {
			err = os.RemoveAll(logs)
		}

		if errors.Is(err, fs.ErrNotExist) {
			err = nil // killed before it was there
		}

		if err := errors.Join(err, s.remove(octet), lock.Close()); err != nil {
			return err
		}
	}

	return s.restoreUnused()
}

// remove removes what there is of a cluster: processes first, then its device
// on the host, then its folder.
func (s state) remove(octet int) error {
	if err := removeCgroup(s.cgroupOf(octet)); err != nil {
		return err
	}

	if err := removeDevice(device(octet)); err != nil {
		return err
	}

	return os.RemoveAll(s.of(octet))
}

// restoreUnused puts sysctls back if there is no cluster.
func (s state) restoreUnused() error {
	octets, err := s.octets()
	if err != nil || len(octets) > 0 {
		return err
	}

	return s.restoreSysctls()
}

// octets are those of the networks that are taken.
func (s state) octets() ([]int, error) {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return nil, err
	}

	var octets []int

	for _, entry := range entries {
		if octet, err := strconv.Atoi(entry.Name()); err == nil && entry.IsDir() {
			octets = append(octets, octet)
		}
	}

	return octets, nil
}

// freeOctet finds a network that neither a cluster nor the host uses.
func (s state) freeOctet() (int, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return 0, err
	}

	for octet := range 256 {
		if _, err := os.Stat(s.of(octet)); err == nil || overlaps(subnet(octet), addresses) || overlaps(outside(octet), addresses) {
			continue
		}

		return octet, nil
	}

	return 0, errors.New("no network of 172.30.0.0/16 is free")
}

func overlaps(p netip.Prefix, addresses []net.Addr) bool {
	for _, address := range addresses {
		if other, err := netip.ParsePrefix(address.String()); err == nil && p.Overlaps(other) {
			return true
		}
	}

	return false
}

// subnet is far from the networks of Kubernetes, in which etcd would not look
// for its peers.
func subnet(octet int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 30, byte(octet), 0}), 24)
}

// outside is the network of the host and a bastion: of 198.18.0.0/15, which is for
// tests of networks (RFC 2544). Its address is the host's.
func outside(octet int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(octet), 1}), 24)
}

func (s state) of(octet int) string {
	return filepath.Join(s.folder, strconv.Itoa(octet))
}

func (s state) cgroupOf(octet int) string {
	return filepath.Join(s.cgroups, device(octet))
}
