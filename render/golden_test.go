package render_test

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/render"
)

// update renders the shipped environments again: their trees, as committed in
// rendered/, are the golden files of this package.
var update = flag.Bool("update", false, "render the shipped environments again")

// What is committed in rendered/ is what a render makes of the sources, from
// nothing, at any place.
func TestShippedTreesAreGolden(t *testing.T) {
	for _, env := range shippedEnvs(t) {
		t.Run(env, func(t *testing.T) {
			if *update {
				mustWrite(t, open(t, shipped, nil), env)
			}
			root := copySources(t, shipped)
			mustWrite(t, open(t, root, nil), env)
			want := readTree(t, filepath.Join(shipped, "rendered", env))
			compareTrees(t, readTree(t, filepath.Join(root, "rendered", env)), want)
			if t.Failed() {
				t.Log("if the change is meant: task golden")
			}
		})
	}
}

// Neither the clock, the time zone, the language nor the home directory can be
// seen in a tree, and keys found elsewhere make no difference.
func TestTreesDoNotDependOnTheMachine(t *testing.T) {
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	time.Local = time.FixedZone("far east", 14*60*60)
	for name, value := range map[string]string{"TZ": "Pacific/Kiritimati", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "HOME": t.TempDir()} {
		t.Setenv(name, value)
	}
	for _, env := range shippedEnvs(t) {
		t.Run(env, func(t *testing.T) {
			root := copySources(t, shipped)
			key := readFile(t, shipped, "envs/example.agekey")
			w := world(t, map[string]string{"SOPS_AGE_KEY": key})
			w.Now = func() time.Time { return testTime.AddDate(7, 1, 1).Local() }
			mustWrite(t, openWorld(t, root, w), env)
			want := readTree(t, filepath.Join(shipped, "rendered", env))
			compareTrees(t, readTree(t, filepath.Join(root, "rendered", env)), want)
		})
	}
}

// A committed tree is fresh: check finds nothing, and a render has nothing to
// do, because inputs, outputs and seal are as the lock says.
func TestShippedTreesAreFresh(t *testing.T) {
	for _, env := range shippedEnvs(t) {
		t.Run(env, func(t *testing.T) {
			r := open(t, shipped, nil)
			differences, err := r.Check(env)
			if err != nil || len(differences) > 0 {
				t.Errorf("check: %v, %v", differences, err)
			}
			fresh, err := r.Fresh(context.Background(), env)
			if err != nil || !fresh {
				t.Errorf("fresh = %v, %v", fresh, err)
			}
			changes, err := r.Diff(context.Background(), mustRender(t, r, env, render.Options{}))
			if err != nil || len(changes) > 0 {
				t.Errorf("diff: %v, %v", changes, err)
			}
		})
	}
}

// Writing what is there already writes nothing.
func TestSecondWriteDoesNothing(t *testing.T) {
	root := copySources(t, shipped)
	r := open(t, root, nil)
	if first := mustWrite(t, r, "dev"); !first.Written || len(first.Added) == 0 {
		t.Fatalf("the first write did %+v", first)
	}
	before := modTimes(t, filepath.Join(root, "rendered"))
	if second := mustWrite(t, r, "dev"); second.Written || len(second.Added)+len(second.Changed)+len(second.Removed) > 0 {
		t.Errorf("the second write did %+v", second)
	}
	for name, at := range modTimes(t, filepath.Join(root, "rendered")) {
		if before[name] != at {
			t.Errorf("%s was written again", name)
		}
	}
}

func modTimes(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	times := map[string]time.Time{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			times[name] = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// Git finds a rendered tree unchanged after it was deleted and rendered again,
// whatever git does about line ends: same bytes, same modes, nothing left over.
func TestGitSeesNoChange(t *testing.T) {
	root := copySources(t, shipped)
	writeFile(t, root, ".gitattributes", readFile(t, shipped, ".gitattributes"))
	if err := os.CopyFS(filepath.Join(root, "rendered"), os.DirFS(filepath.Join(shipped, "rendered"))); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.filemode=true"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("config", "core.autocrlf", "true")
	git("add", "--all")
	git("commit", "-q", "-m", "rendered")
	r := open(t, root, nil)
	for _, env := range shippedEnvs(t) {
		if err := os.RemoveAll(filepath.Join(root, "rendered", env)); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, r, env)
	}
	if status := git("status", "--porcelain"); status != "" {
		t.Errorf("git status:\n%s", status)
	}
	for name, text := range readTree(t, filepath.Join(root, "rendered")) {
		if strings.Contains(text, "\r") || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: git would change its line ends", name)
		}
	}
}
