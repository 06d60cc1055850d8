package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/schemas"
)

// rotationPhases are what is rotated in the life of a cluster, one after the other, and in
// how many phases.
var rotationPhases = []struct {
	kind   string
	phases int
}{
	{"talos-ca", 3}, {"kubernetes-ca", 3}, {"encryption-key", 3}, {"age-key", 3}, {"machine-token", 1}, {"bootstrap-token", 1},
}

// TestRotationKilled rotates everything that a cluster has, phase by phase, with whole
// runs of apply, which are killed at random calls to Hetzner, to nodes and to Kubernetes;
// at night also with each call failing once in each phase, in half of the cases after its
// effect. The autoscaler makes a server before, and one in the middle of each rotation
// of an authority. After each phase everything is as without. TestKilled of
// apply/internal/nodes kills at each call to nodes, TestAgeKeyKilled of apply/internal/kube
// at each to Kubernetes.
func TestRotationKilled(t *testing.T) {
	kills, offsets := 14, 0 // as many kills as there are phases
	switch {
	case os.Getenv(nightlyVariable) != "":
		kills, offsets = 100, recreateStride
	case os.Getenv("TALOSGEN_TESTENV_FULL") == "":
		t.Skip("it takes two minutes: of the full level")
	}
	t.Parallel()
	trees, chapters := rotated(t)
	s := lived(t, trees, chapters)
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		s.killed(t, kills, 1)
	})
	for offset := range offsets {
		t.Run("failing/"+strconv.Itoa(offset), func(t *testing.T) {
			t.Parallel()
			s.failing(t, offset)
		})
	}
}

// failing lives a story again, while a part of the calls fails in each of its chapters.
func (s story) failing(t *testing.T, offset int) {
	t.Helper()
	l, struck := newLife(t, s.trees), 0
	for i, c := range s.chapters {
		l.begin(c)
		struck += l.failing(c.commands[0], (offset+i*5)%recreateStride, s.calls[c.name][0])
		s.compare(l, c, "with failed calls")
	}
	if struck < len(s.chapters) {
		t.Errorf("%d calls failed, in %d phases", struck, len(s.chapters))
	}
	t.Logf("%d calls failed", struck)
}

// rotated are the trees of a cluster whose secrets are rotated, and what is done with each.
func rotated(t *testing.T) (trees []files, chapters []chapter) {
	t.Helper()
	f, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := repositoriesOf(t, []lifeTree{{workers: "1", backlog: "4096", kind: "cpx22"}})[0].writeMissing(dir); err != nil {
		t.Fatal(err)
	}
	next := func(name string, happens func(*life), commands ...[]string) {
		for _, args := range append(commands, []string{"render", "dev"}) {
			if err := f.talosgen(dir, args...); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		inGit(t, dir, "add", "-A")
		inGit(t, dir, "commit", "-q", "--allow-empty", "-m", name)
		tree, err := readFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		for file := range tree {
			if strings.HasPrefix(file, ".git/") {
				delete(tree, file)
			}
		}
		chapters = append(chapters, chapter{name: name, tree: len(trees), happens: happens, commands: [][]string{lifeApply}})
		trees = append(trees, tree)
	}
	withDocuments(t, dir)
	withAutoscaler(t, dir)
	inGit(t, dir, "init", "-q")
	next("from nothing", nil, []string{"secrets", "sync", "dev"})
	for _, r := range rotationPhases {
		for n := range r.phases {
			name := fmt.Sprintf("%s, phase %d", r.kind, n+1)
			made := ""
			if n == 1 || len(trees) == 1 {
				made = fmt.Sprintf("a%d", len(trees))
			}
			next(name, func(l *life) { l.autoscaled(made) }, []string{"rotate", "dev", r.kind})
		}
	}
	return trees, chapters
}

// rotatedPool is the pool of the autoscaler.
var rotatedPool = schemas.InfraAutoscalerPool{Group: "dev-burst", Type: "cpx22", Location: "hel1", PublicIPv4: true, PublicIPv6: true, Image: schemas.InfraImage{Architecture: "x86"}}

// withAutoscaler gives a cluster a pool of the autoscaler.
func withAutoscaler(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "envs/dev/cluster.yaml")
	text := string(readFile(t, file)) + "autoscaler:\n  enabled: true\n  nodepools:\n    - name: burst\n      max: 6\n      type: cpx22\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// autoscaled lets the autoscaler begin anew, as its Deployment is, and make a server with
// a name that ends so, if one is given.
func (l *life) autoscaled(suffix string) {
	l.t.Helper()
	api := l.fleet.Kubernetes("dev-control-plane-1")
	if api == nil {
		l.t.Fatal("there is no Kubernetes")
	}
	if err := (autoscalerPods{api}).roll("scaler", false); err != nil {
		l.t.Fatal(err)
	}
	if suffix == "" {
		return
	}
	if err := (autoscaler{api, &simProject{l.sim}}).make(rotatedPool, suffix); err != nil {
		l.t.Fatal(err)
	}
	for range 3 { // a server starts, boots, and installs itself, each as somebody asks
		l.list("servers")
		l.later(5 * time.Minute)
	}
	if m := l.fleet.Machine(rotatedPool.Group + "-" + suffix); m == nil || m.Stage() != "running" {
		l.t.Fatalf("%s-%s does not run", rotatedPool.Group, suffix)
	}
}

// withDocuments takes the contract of Talos 1.14, which has room for two keys of Secrets.
func withDocuments(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, "envs/dev/patches/nodes/dev-worker-1.yaml")); err != nil { // it is of before
		t.Fatal(err)
	}
	file := filepath.Join(dir, "envs/dev/cluster.env")
	lines := strings.Split(string(readFile(t, file)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "TALOS_VERSION=") {
			lines[i] = "TALOS_VERSION=v1.14.1"
		}
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// inGit runs git in a directory.
func inGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	command := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
}
