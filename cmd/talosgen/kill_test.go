package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKilled kills a render at 50 moments, in turns of one source for another
// and back, and now and then with no tree to begin with. Whatever the moment,
// the tree is one of the two in full; and the next run, killed or not, works.
func TestKilled(t *testing.T) {
	t.Parallel()
	k := newKiller(t)
	for i := range 50 {
		if i%10 == 9 {
			k.removeTree()
		}
		k.use(i % 2)
		k.killRender(i%4 < 2)
		k.checkTree(i)
		if i%5 == 4 {
			k.finish(i % 2)
		}
	}
	k.use(0)
	k.finish(0)
	t.Logf("%d of 50 renders were killed before they ended", k.killed)
	if k.killed < 10 {
		t.Errorf("only %d of 50 renders were killed before they ended", k.killed)
	}
}

type killer struct {
	t       *testing.T
	fixture *fixture
	dir     string
	bounds  map[bool]time.Duration // of the delays before a kill, by whether it waits for writing
	trees   [2]string              // what each source gives, as text
	hadTree bool
	killed  int
	random  *rand.Rand
}

const (
	killSource = "envs/dev/patches/nodes/dev-worker-1.yaml"
	killTree   = "rendered/dev"
)

func newKiller(t *testing.T) *killer {
	f, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	k := &killer{t: t, fixture: f, dir: t.TempDir(), random: rand.New(rand.NewPCG(1, 2))}
	if err := f.sources.writeMissing(k.dir); err != nil {
		t.Fatal(err)
	}
	for i := range k.trees {
		k.use(i)
		if err := f.talosgen(k.dir, "render", "dev"); err != nil {
			t.Fatal(err)
		}
		k.trees[i] = k.read()
		k.removeTree()
	}
	start := time.Now()
	if err := k.command().Run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	k.bounds, k.hadTree = map[bool]time.Duration{false: took, true: took / 10}, true
	return k
}

// use makes the sources the first or the second ones.
func (k *killer) use(source int) {
	text := strings.ReplaceAll(k.fixture.sources[killSource], "ssd", []string{"ssd", "nvme"}[source])
	if err := writeFile(filepath.Join(k.dir, killSource), []byte(text)); err != nil {
		k.t.Fatal(err)
	}
}

func (k *killer) command() *exec.Cmd {
	cmd := exec.Command("talosgen", "-C", k.dir, "render", "dev")
	cmd.Env = append(os.Environ(), "SOPS_AGE_KEY="+string(k.fixture.operatorKey))
	return cmd
}

// killRender starts a render and kills it: at any time, or once it has begun to
// write. How long a render takes changes with what else the machine does, so the
// bound of the delay follows: more than half of the renders are killed, and the
// others show that some kills come as late as a render may end.
func (k *killer) killRender(writing bool) {
	cmd := k.command()
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	delay := time.Duration(k.random.Int64N(int64(k.bounds[writing])))
	if writing {
		k.awaitStaging(ended)
	}
	select {
	case err := <-ended:
		ended <- err
	case <-time.After(delay):
	}
	_ = cmd.Process.Kill()
	if err := <-ended; err != nil {
		if cmd.ProcessState.Exited() {
			k.t.Errorf("a render that was not killed failed: %v", err)
		}
		k.killed++
		k.bounds[writing] = k.bounds[writing] * 5 / 4
		return
	}
	k.bounds[writing] = max(k.bounds[writing]*3/4, time.Microsecond)
}

// awaitStaging returns when the new tree begins to appear beside the old one,
// or the render has ended. It looks once in a millisecond, and leaves the processors
// to the render meanwhile.
func (k *killer) awaitStaging(ended chan error) {
	for {
		if _, err := os.Lstat(filepath.Join(k.dir, "rendered", ".talosgen-dev")); err == nil {
			return
		}
		select {
		case err := <-ended:
			ended <- err
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// checkTree fails unless the tree is one of the two, or absent as before.
func (k *killer) checkTree(round int) {
	k.t.Helper()
	switch tree := k.read(); {
	case tree == k.trees[0], tree == k.trees[1]:
		k.hadTree = true
	case tree == "" && !k.hadTree:
	default:
		k.t.Fatalf("round %d: the tree is neither the old nor the new one:\n%.2000s", round, tree)
	}
}

// finish renders to the end, and checks that nothing is left over.
func (k *killer) finish(source int) {
	k.t.Helper()
	if err := k.fixture.talosgen(k.dir, "render", "dev"); err != nil {
		k.t.Fatal(err)
	}
	if k.read() != k.trees[source] {
		k.t.Fatal("after a full render the tree is not that of its sources")
	}
	entries, err := os.ReadDir(filepath.Join(k.dir, "rendered"))
	if err != nil || len(entries) != 1 {
		k.t.Fatalf("something is left over: %v %v", entries, err)
	}
	k.hadTree = true
}

func (k *killer) removeTree() {
	if err := os.RemoveAll(filepath.Join(k.dir, killTree)); err != nil {
		k.t.Fatal(err)
	}
	k.hadTree = false
}

// read returns the tree as one text, "" if there is none.
func (k *killer) read() string {
	tree, err := readFiles(filepath.Join(k.dir, killTree))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return joined(tree)
}
