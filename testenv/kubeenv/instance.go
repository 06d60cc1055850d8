package kubeenv

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/filelock"
	"github.com/talosgen/talosgen/testenv/patience"
)

// Ports lie below those that the kernel gives to outgoing connections, so
// that nothing takes one between the choice of a port and its use.
const (
	firstPort  = 20000
	lastPort   = 32000
	portsEach  = 16
	folderName = "kube-"
)

// marker is the variable that every process of an instance has in its
// environment, with the instance's folder. It tells leftovers of ours from
// everything else.
const marker = "TALOSGEN_KUBEENV"

// instance is a folder and a block of ports that one cluster has for itself.
type instance struct {
	dir  string
	port int          // the first of the block
	lock *os.File     // of the folder: it says whether the test process lives
	held net.Listener // at the first port: it keeps others off the block, whatever cache they use
}

// claim takes the first free block of ports and its folder, after it has
// removed what killed test processes left.
func claim(root string) (*instance, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}

	// One name for the folder, by which its processes are known.
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}

	if err := reapAll(root); err != nil {
		return nil, err
	}

	for port := firstPort; port < lastPort; port += portsEach {
		i, err := claimBlock(filepath.Join(root, folderName+strconv.Itoa(port)), port)
		if err != nil || i != nil {
			return i, err
		}
	}

	return nil, fmt.Errorf("there are no %d free ports in a row from %d to %d", portsEach, firstPort, lastPort)
}

// claimBlock takes a folder and its ports, or returns nil if they are in use.
func claimBlock(dir string, port int) (*instance, error) {
	lock, err := filelock.Try(dir + ".lock")
	if lock == nil || err != nil {
		return nil, err
	}

	i := &instance{dir: dir, port: port, lock: lock}

	if !i.holdPorts() {
		i.free()
		return nil, nil
	}

	// Somebody else's leftovers since the last look.
	if err := errors.Join(reap(dir), i.makeFolders()); err != nil {
		i.free()
		return nil, err
	}

	return i, nil
}

// holdPorts takes the first port of the block, if nobody listens at any.
func (i *instance) holdPorts() bool {
	for n := range portsEach {
		listener, err := net.Listen("tcp", i.address(n))
		if err != nil {
			return false
		}

		if n == 0 {
			i.held = listener
			continue
		}

		listener.Close()
	}

	return true
}

// free lets others have the folder and the ports.
func (i *instance) free() {
	if i.held != nil {
		i.held.Close()
	}

	i.lock.Close()
}

func (i *instance) makeFolders() error {
	var errs []error
	for _, folder := range []string{"", "logs", "tmp"} {
		errs = append(errs, os.Mkdir(filepath.Join(i.dir, folder), 0o700))
	}

	return errors.Join(errs...)
}

// file is the name of a file or folder of the instance.
func (i *instance) file(name string) string { return filepath.Join(i.dir, name) }

// address is where the n-th port of the instance is.
func (i *instance) address(n int) string { return "127.0.0.1:" + strconv.Itoa(i.port+n) }

// release removes the folder and gives the ports back. Logs that are kept are
// moved away; release returns where they are.
func (i *instance) release(keepLogs bool) (kept string) {
	defer i.free()

	if keepLogs {
		kept = keptLogs(i.dir, time.Now())
		if err := os.Rename(i.file("logs"), kept); err != nil {
			kept = i.file("logs") + " until the next start"
			return kept
		}
	}

	// What cannot be removed now is removed at the next start.
	_ = os.RemoveAll(i.dir)

	return kept
}

// keptLogs is the folder for the logs of an instance that failed.
func keptLogs(dir string, now time.Time) string {
	return filepath.Join(filepath.Dir(dir), "failed-"+now.UTC().Format("20060102-150405.000")+"-"+filepath.Base(dir))
}

// reapAll removes what instances left whose test process is gone, and all but
// the last logs of failures.
func reapAll(root string) error {
	left, err := filepath.Glob(filepath.Join(root, folderName+"*"))
	if err != nil {
		return err
	}

	for _, dir := range left {
		if strings.HasSuffix(dir, ".lock") {
			continue
		}

		lock, err := filelock.Try(dir + ".lock")
		if err != nil {
			return err
		}

		if lock == nil {
			continue
		}

		if err := errors.Join(reap(dir), lock.Close()); err != nil {
			return err
		}
	}

	return trimLogs(root)
}

// trimLogs keeps the last logs of failures only.
func trimLogs(root string) error {
	const keep = 10

	logs, err := filepath.Glob(filepath.Join(root, "failed-*"))
	if err != nil {
		return err
	}

	for _, dir := range logs[:max(0, len(logs)-keep)] {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}

	return nil
}

// reap ends the processes of an instance, whose lock the caller has, and
// removes its folder.
func reap(dir string) error {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}

	for _, name := range processes {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil || !belongs(pid, dir) {
			continue
		}

		if err := end(pid, dir); err != nil {
			return err
		}
	}

	return os.RemoveAll(dir)
}

// belongs tells whether a process was started for the instance in dir.
func belongs(pid int, dir string) bool {
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false // it ended, or is somebody else's
	}

	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if string(entry) == marker+"="+dir {
			return true
		}
	}

	return false
}

// end kills a process and waits until it is gone. The handle of the process
// keeps meaning the same process, so looking again after it was opened makes
// sure that a number that was given away meanwhile is not killed.
func end(pid int, dir string) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer func() { _ = process.Release() }() // nothing depends on it

	if !belongs(pid, dir) {
		return nil
	}

	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill what an earlier run left: %w", err)
	}

	return poll(10*time.Second, func() error {
		if belongs(pid, dir) {
			return fmt.Errorf("process %d of an earlier run does not end", pid)
		}

		return nil
	})
}

// poll calls f until it returns no error, and returns its last error if that
// takes too long, on a machine that has time to give.
func poll(timeout time.Duration, f func() error) error {
	return patience.Poll(timeout, 50*time.Millisecond, func(err error) bool { return errors.Is(err, errEnded) }, f)
}

// errEnded is wrapped by errors that waiting does not mend.
var errEnded = errors.New("has ended")
