package kubeenv

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/cache"
	"github.com/talosgen/talosgen/testenv/internal/child"
	"github.com/talosgen/talosgen/testenv/internal/filelock"
)

// sleeper starts a process as an instance in dir would have it, but one that
// does not end with its parent, and returns a channel that says when it ended.
func sleeper(t *testing.T, dir string) <-chan struct{} {
	t.Helper()

	command := exec.Command("cat")
	command.Env = append(os.Environ(), marker+"="+dir)

	input, err := command.StdinPipe() // it reads until the test ends
	if err != nil {
		t.Fatal(err)
	}

	if err := command.Start(); err != nil {
		t.Fatal(err)
	}

	ended := make(chan struct{})

	go func() {
		_ = command.Wait() // it is killed
		close(ended)
	}()

	t.Cleanup(func() {
		input.Close()
		<-ended
	})

	return ended
}

func mustClaim(t *testing.T, root string) *instance {
	t.Helper()

	i, err := claim(root)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(i.free)

	return i
}

func TestClaim(t *testing.T) {
	root := filepath.Join(t.TempDir(), "run")
	one, two := mustClaim(t, root), mustClaim(t, root)

	if one.dir == two.dir || one.port == two.port {
		t.Errorf("both have %s and port %d", one.dir, one.port)
	}

	if kept := one.release(false); kept != "" {
		t.Errorf("kept %s", kept)
	}

	if _, err := os.Stat(one.dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", one.dir, err)
	}

	lock, err := filelock.Try(one.dir + ".lock")
	if lock == nil || err != nil {
		t.Errorf("the folder is not free: %v", err)
	}

	if lock, err := filelock.Try(two.dir + ".lock"); lock != nil || err != nil {
		t.Errorf("the other folder is free (%v)", err)
	}
}

// TestClaimedPorts passes over a block that somebody else listens in.
func TestClaimedPorts(t *testing.T) {
	free := mustClaim(t, t.TempDir())
	if other := mustClaim(t, t.TempDir()); other.port == free.port {
		t.Errorf("claimed port %d, which another cache has claimed", other.port)
	}

	listener, err := net.Listen("tcp", free.address(portsEach-1))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()

	free.free()

	if other := mustClaim(t, t.TempDir()); other.port == free.port {
		t.Errorf("claimed port %d, which is in use", other.port)
	}
}

// TestReap leaves what a killed test process leaves, beside what is no
// leftover: an instance that lives, and a process of another cache.
func TestReap(t *testing.T) {
	root := t.TempDir()
	living := mustClaim(t, root)
	livingProcess := sleeper(t, living.dir)

	dead := mustClaim(t, root)
	if err := os.WriteFile(dead.file("data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	dead.free()

	first, second := sleeper(t, dead.dir), sleeper(t, dead.dir)
	other := sleeper(t, filepath.Join(t.TempDir(), filepath.Base(dead.dir)))

	mustClaim(t, root)

	if _, err := os.Stat(dead.file("data")); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dead.dir, err)
	}

	for _, ended := range []<-chan struct{}{first, second} {
		select {
		case <-ended:
		case <-time.After(within):
			t.Error("a process of the dead instance lives")
		}
	}

	for _, ended := range []<-chan struct{}{livingProcess, other} {
		select {
		case <-ended:
			t.Error("ended a process that is no leftover")
		default:
		}
	}

	if _, err := os.Stat(living.file("logs")); err != nil {
		t.Error(err)
	}
}

func TestKeptLogs(t *testing.T) {
	root := t.TempDir()

	var kept []string

	for range 12 {
		i := mustClaim(t, root)

		if err := os.WriteFile(i.file("logs/etcd.log"), nil, 0o600); err != nil {
			t.Fatal(err)
		}

		name := keptLogs(i.dir, time.Unix(int64(len(kept)), 0))
		kept = append(kept, name)

		if err := os.Rename(i.file("logs"), name); err != nil {
			t.Fatal(err)
		}

		i.release(false)
	}

	mustClaim(t, root)

	left, err := filepath.Glob(filepath.Join(root, "failed-*"))
	if err != nil || !slices.Equal(left, kept[2:]) {
		t.Errorf("kept %q (%v), want the last ten", left, err)
	}
}

// TestKilled kills a test process that runs a cluster. The kernel ends the
// cluster; the next start removes what is left of it, here with a process that
// survived. Meanwhile the package's own cluster lives: the killed process is
// the second of two at once.
func TestKilled(t *testing.T) {
	if os.Getenv("KUBEENV_TEST_KILLED") != "" {
		c := Start(t, Own(), WithoutControllerManager())
		os.Stdout.WriteString(c.instance.dir + "\n")
		select {} // until it is killed
	}

	t.Parallel()

	shared := Start(t, WithFlux())

	// In a cache of its own, where nobody else tidies up.
	root := t.TempDir()
	if err := os.Symlink(shared.programs, filepath.Join(root, filepath.Base(shared.programs))); err != nil {
		t.Fatal(err)
	}

	command := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	command.Env = append(os.Environ(), "KUBEENV_TEST_KILLED=1", cache.Variable+"="+root)

	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := child.Start(command); err != nil {
		t.Fatal(err)
	}

	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	dir := line[:len(line)-1]
	survivor := sleeper(t, dir)

	if got := processes(t, dir); len(got) != 3 {
		t.Errorf("processes %v, want etcd, kube-apiserver and the survivor", got)
	}

	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	_ = command.Wait() // it was killed

	err = poll(within, func() error {
		if got := processes(t, dir); len(got) > 1 {
			return errStillThere
		}

		return nil
	})
	if err != nil {
		t.Errorf("the kernel did not end the processes: %v", processes(t, dir))
	}

	if _, err := os.Stat(dir); err != nil {
		t.Errorf("nothing to reap: %v", err)
	}

	if err := reapAll(filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}

	<-survivor

	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}

	if err := shared.client.healthy("/readyz"); err != nil {
		t.Errorf("the other cluster: %v", err)
	}
}

var errStillThere = errors.New("still there")

// processes are the processes of an instance.
func processes(t *testing.T, dir string) []int {
	t.Helper()

	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}

	var all []int

	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && belongs(pid, dir) {
			all = append(all, pid)
		}
	}

	return all
}
