package tree

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/talosgen/talosgen/internal/rendered"
)

// A child process of the tests writes trees into the directory that this
// variable names until it is killed; see writeUntilKilled.
const childDir, childSystem, childSize = "TALOSGEN_TEST_TREE", "TALOSGEN_TEST_SYSTEM", "TALOSGEN_TEST_SIZE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		writeUntilKilled(dir, os.Getenv(childSystem), os.Getenv(childSize))
	}
	os.Exit(m.Run())
}

// writeUntilKilled writes two trees in turn, and a byte to stdout before each
// change of the disk, by which the parent chooses the moment to kill.
func writeUntilKilled(dir, systemName, size string) {
	inner := map[string]*system{"exchange": realSystem, "two steps": withoutExchange(), "in place": overlaid()}[systemName]
	sys := before(inner, func() error {
		_, err := os.Stdout.Write([]byte{'.'})
		return err
	})
	var n int
	fmt.Sscan(size, &n)
	for i := 0; ; i++ {
		files, lock := killTree(n, i)
		if _, err := write(sys, dir, files, lock); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// killTree is one of two trees, in which about every third file is the same.
func killTree(n, which int) ([]File, *rendered.Lock) {
	var files []File
	for i := range n {
		version := which % 2
		if i%3 == 0 {
			version = 0
		}
		path := fmt.Sprintf("nodes/worker-%d-of-%d.yaml", i, version)
		files = append(files, File{path, bytes.Repeat([]byte(path+"\n"), 100)})
	}
	lock, err := rendered.NewLock(rendered.Origin{Talosgen: "1.0.0", Environment: "dev", Cluster: "dev"}, nil, Outputs(files))
	if err != nil {
		panic(err)
	}
	lock.Seal = lock.ComputeSeal([]byte("key"))
	return files, lock
}

// TestKilled kills writes at points spread over all that they do. After each
// kill every file matches its lock, and the next run repairs what is left over.
func TestKilled(t *testing.T) {
	for _, tt := range []struct {
		system      string
		size, kills int
	}{
		{"exchange", 200, 50},
		{"two steps", 10, 30},
		{"in place", 10, 30},
	} {
		t.Run(tt.system, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "rendered", "dev")
			changes := countChanges(t, tt.size)
			leftovers := 0
			for i := range tt.kills {
				killWrite(t, dir, tt.system, tt.size, changes+changes*i/tt.kills)
				leftovers += checkKilled(t, dir, tt.system, tt.size)
			}
			t.Logf("%d of %d kills left something over", leftovers, tt.kills)
			if leftovers == 0 {
				t.Error("no kill interrupted a write")
			}
		})
	}
}

// countChanges counts the changes that one write makes.
func countChanges(t *testing.T, size int) int {
	dir := filepath.Join(t.TempDir(), "dev")
	sys, count := faulty(realSystem, 0, false)
	for i := range 2 {
		*count = 0
		files, lock := killTree(size, i)
		if _, err := write(sys, dir, files, lock); err != nil {
			t.Fatal(err)
		}
	}
	return *count
}

// killWrite starts a child and kills it after so many changes.
func killWrite(t *testing.T, dir, system string, size, changes int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir, childSystem+"="+system, fmt.Sprintf("%s=%d", childSize, size))
	var stderr bytes.Buffer
	child.Stderr = &stderr
	progress, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadFull(progress, make([]byte, changes))
	if killErr := child.Process.Kill(); err == nil {
		err = killErr
	}
	_ = child.Wait() // always "signal: killed"
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("the child failed: %v\n%s", err, &stderr)
	}
}

// checkKilled checks the tree, lets the next run repair it, and returns 1 if
// there was something to repair.
func checkKilled(t *testing.T, dir, system string, size int) (leftover int) {
	t.Helper()
	if exists(filepath.Join(filepath.Dir(dir), ".talosgen-dev")) {
		leftover = 1
	}
	if system != "exchange" {
		// Without exchange, the tree may be missing, or half there, until recovery.
		if err := Recover(dir); err != nil {
			t.Fatal(err)
		}
	}
	assertWhole(t, dir, size)
	if err := Recover(dir); err != nil {
		t.Fatal(err)
	}
	assertWhole(t, dir, size)
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Fatalf("after recovery there is %v (%v)", entries, err)
	}
	return leftover
}

// assertWhole wants exactly one of the two trees.
func assertWhole(t *testing.T, dir string, size int) {
	t.Helper()
	got := snapshot(t, dir)
	for which := range 2 {
		files, lock := killTree(size, which)
		files = append(files, File{rendered.LockName, lock.Encode()})
		isFile := func(f File) bool { return got[f.Path] == string(f.Data) }
		if len(got) == len(files) && !slices.ContainsFunc(files, func(f File) bool { return !isFile(f) }) {
			return
		}
	}
	t.Fatalf("the tree is neither the old nor the new one: %d files, lock\n%s", len(got), got[rendered.LockName])
}
